package cli

import (
	"net/url"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/plan"
)

// The part of SARIF 2.1.0 that joy writes (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
type (
	sarif struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Columns string        `json:"columnKind"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

// problem is one result of a report.
type problem struct {
	rule, level, file string // level: error, warning or note
	line, col         int
	text              string
	key               string // what makes it the same problem in another version of the file
}

func problemsOf(findings []plan.Finding) []problem {
	out := make([]problem, len(findings))
	for i, f := range findings {
		out[i] = problem{rule: f.Rule, level: f.Severity, file: f.File, line: f.Line, col: f.Col, text: f.Message, key: f.Message}
	}
	return out
}

func (a *app) sarifOf(problems []problem) sarif {
	run := sarifRun{Columns: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{"joy", []sarifRule{}}
	var ids []string
	for _, p := range problems {
		ids = append(ids, p.rule)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id})
	}
	seen := map[string]int{}
	for _, p := range problems {
		at := slices.Index(ids, p.rule)
		run.Results = append(run.Results, a.sarifOne(p, at, seen))
	}
	return sarif{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func (a *app) sarifOne(p problem, index int, seen map[string]int) sarifResult {
	file := a.inRepo(p.file)
	out := sarifResult{p.rule, index, p.level, sarifText{p.text}, []sarifLocation{}, nil}
	if p.file != "" {
		at := sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: file}).String()}}
		if p.line > 0 {
			at.Region = &sarifRegion{p.line, p.col}
		}
		out.Locations = append(out.Locations, sarifLocation{at})
	}
	// The line is left out of the fingerprint, so that a finding stays the same one when text above it moves; the count
	// keeps two that say the same apart.
	print := digest.Bytes([]byte(strings.Join([]string{p.rule, file, p.key}, "\x00")))
	seen[print]++
	out.Fingerprints = map[string]string{"joy/1": print}
	if n := seen[print]; n > 1 {
		out.Fingerprints["joy/1"] = digest.Bytes([]byte(strings.Repeat(print, n)))
	}
	return out
}
