package cli

import (
	"slices"

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
		StartLine int `json:"startLine"`
	}
)

// ruleStale is the rule of a difference between a lock and a build.
const ruleStale = "JOY-STALE"

func sarifOf(doc buildCheckJSON) sarif {
	var run sarifRun
	run.Tool.Driver.Name = "joy"
	run.Results = []sarifResult{}
	for _, c := range doc.Changes {
		run.Results = append(run.Results, sarifOne(plan.Finding{Rule: ruleStale, Severity: "error", File: doc.Lock, Message: c.String()}))
	}
	for _, f := range doc.Findings {
		run.Results = append(run.Results, sarifOne(f))
	}
	ids := []string{}
	for _, r := range run.Results {
		if !slices.Contains(ids, r.Rule) {
			ids = append(ids, r.Rule)
		}
	}
	slices.Sort(ids)
	run.Tool.Driver.Rules = []sarifRule{}
	for _, id := range ids {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id})
	}
	return sarif{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func sarifOne(f plan.Finding) sarifResult {
	at := sarifPhysical{Artifact: sarifArtifact{f.File}}
	if f.Line > 0 {
		at.Region = &sarifRegion{f.Line}
	}
	// The line is left out of the fingerprint, so that a finding stays the same one when text above it moves.
	print := digest.Bytes([]byte(f.Rule + "\x00" + f.File + "\x00" + f.Message))
	return sarifResult{f.Rule, f.Severity, sarifText{f.Message}, []sarifLocation{{at}}, map[string]string{"joy/1": print}}
}
