package operator

import (
	"errors"
	"math"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/signature"
)

// Parse reads a policy; file names it in errors, which are *fault.Error values of kind Input with their places, joined.
func Parse(data []byte, file string) (*Policy, error) {
	r := &reader{file: file, at: map[string]pos{}}
	p := &Policy{File: file, Digest: digest.Bytes(data), at: r.at}
	if root := r.root(data); root != nil && len(r.errs) == 0 {
		r.policy(root, p)
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return p, nil
}

func (r *reader) policy(root *yaml.Node, p *Policy) {
	version := false
	r.object(root, "", map[string]func(*yaml.Node){
		"version": func(n *yaml.Node) {
			if version = true; n.ShortTag() != "!!int" || n.Value != "1" {
				r.fail(n, "version %s is not known to this joy", n.Value)
			}
		},
		"isolation":   func(n *yaml.Node) { p.Isolation = r.word(n, policy.Isolations) },
		"start":       func(n *yaml.Node) { p.Start = r.word(n, policy.Starts) },
		"approvals":   func(n *yaml.Node) { p.Approvals = r.word(n, approvals) },
		"providers":   func(n *yaml.Node) { p.Providers = r.words(n, policy.Providers) },
		"runtimes":    func(n *yaml.Node) { p.Runtimes = r.words(n, []string{GVisor}) },
		"egress":      func(n *yaml.Node) { p.Egress = r.hosts(n) },
		"connections": func(n *yaml.Node) { p.Connections = r.connections(n) },
		"unconfined":  func(n *yaml.Node) { p.Unconfined = r.boolean(n) },
		"models":      func(n *yaml.Node) { p.Models = r.models(n) },
		"spend":       func(n *yaml.Node) { r.spend(n, &p.Spend) },
		"limits":      func(n *yaml.Node) { r.limits(n, &p.Limits) },
		"signatures":  func(n *yaml.Node) { p.Signatures = r.keys(n) },
	})
	if !version {
		r.fail(root, "the policy has no version; it begins with version: 1")
	}
}

func (r *reader) words(n *yaml.Node, known []string) []string {
	out := []string{}
	r.each(n, func(n *yaml.Node) { out = append(out, r.word(n, known)) })
	return out
}

func (r *reader) hosts(n *yaml.Node) []string {
	out := []string{}
	r.each(n, func(n *yaml.Node) {
		h := r.text(n)
		if err := policy.CheckHost(h); err != nil && h != "" {
			r.fail(n, "%v", err)
		}
		out = append(out, h)
	})
	return out
}

func (r *reader) connections(n *yaml.Node) []Connection {
	out := []Connection{}
	r.each(n, func(n *yaml.Node) {
		var c Connection
		r.object(n, "-", map[string]func(*yaml.Node){
			"url":     func(n *yaml.Node) { c.URL = r.url(n) },
			"command": func(n *yaml.Node) { c.Command = r.texts(n) },
		})
		if (c.URL == "") == (len(c.Command) == 0) {
			r.fail(n, "a connection is a url or a command, and only one")
		}
		out = append(out, c)
	})
	return out
}

func (r *reader) url(n *yaml.Node) string {
	text := r.text(n)
	if _, err := parseURL(text); err != nil && text != "" {
		r.fail(n, "%v", err)
	}
	return text
}

func (r *reader) models(n *yaml.Node) []Model {
	out := []Model{}
	r.each(n, func(n *yaml.Node) {
		var m Model
		r.object(n, "-", map[string]func(*yaml.Node){
			"provider": func(n *yaml.Node) { m.Provider = r.text(n) },
			"name":     func(n *yaml.Node) { m.Name = r.text(n) },
			"base_url": func(n *yaml.Node) { m.BaseURL = r.url(n) },
		})
		if m.Provider == "" || m.Name == "" {
			r.fail(n, "a model has a provider and a name; \"*\" is any")
		}
		out = append(out, m)
	})
	return out
}

func (r *reader) spend(n *yaml.Node, s *Spend) {
	r.object(n, "spend.", map[string]func(*yaml.Node){
		"max_cost": func(n *yaml.Node) {
			v, err := strconv.ParseFloat(n.Value, 64)
			tag := n.ShortTag()
			if n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" || err != nil || !(v > 0) || math.IsInf(v, 0) {
				r.fail(n, "want a number of US dollars above 0")
			}
			s.MaxCost = v
		},
		"max_tokens": func(n *yaml.Node) { s.MaxTokens = r.number(n) },
		"max_turns":  func(n *yaml.Node) { s.MaxTurns = r.number(n) },
	})
}

func (r *reader) limits(n *yaml.Node, l *Limits) {
	size := func(to *policy.Size) func(*yaml.Node) {
		return func(n *yaml.Node) { *to = measured(r, n, policy.ParseSize) }
	}
	r.object(n, "limits.", map[string]func(*yaml.Node){
		"cpus":      func(n *yaml.Node) { l.CPUs = r.number(n) },
		"memory":    size(&l.Memory),
		"disk":      size(&l.Disk),
		"timeout":   func(n *yaml.Node) { l.Timeout = measured(r, n, policy.ParseDuration) },
		"max_file":  size(&l.MaxFile),
		"max_total": size(&l.MaxTotal),
		"max_files": func(n *yaml.Node) { l.MaxFiles = r.number(n) },
	})
}

func (r *reader) keys(n *yaml.Node) []signature.PublicKey {
	out := []signature.PublicKey{}
	r.each(n, func(n *yaml.Node) {
		key, err := signature.ParsePublic(r.text(n))
		if err != nil {
			r.fail(n, "%v", err)
		}
		out = append(out, key)
	})
	if len(out) == 0 {
		r.fail(n, "signatures names no key, so that no plan could ever run")
	}
	return out
}
