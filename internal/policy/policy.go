// Package policy says what a plan may do and decides requests against it.
//
// The one rule: it is pure. No clock, no file, no network; the same request and the same grants give the same answer,
// and an empty grant denies.
package policy

// Policy bounds a run. It is frozen in the plan; the zero value of a field means its default (Default), never "no limit".
type Policy struct {
	Isolation string    `json:"isolation"` // any | hardware: hardware refuses emulation
	Providers []string  `json:"providers"` // sandbox providers the plan accepts
	Approvals string    `json:"approvals"` // ask-risky | ask-all | granted
	Start     string    `json:"start"`     // any | cold: cold refuses a memory snapshot
	CPUs      int       `json:"cpus"`      // of the VM
	Memory    Size      `json:"memory"`    // of the VM; all steps together may use 64 MiB less
	Disk      Size      `json:"disk"`      // scratch disk of the VM
	Timeout   Duration  `json:"timeout"`   // of the whole run; a step may have a shorter one
	Egress    []string  `json:"egress"`    // host names reachable through the broker; empty denies all
	Artifacts Artifacts `json:"artifacts"`
}

// Artifacts caps what one step may leave in /workspace/out.
type Artifacts struct {
	MaxFile  Size `json:"max_file"`
	MaxTotal Size `json:"max_total"`
	MaxFiles int  `json:"max_files"`
}

// Default is the policy of an agent that declares none.
func Default() Policy {
	return Policy{
		Isolation: "any",
		Providers: []string{"microvm", "kata", "e2b"},
		Approvals: "ask-risky",
		Start:     "any",
		CPUs:      2,
		Memory:    2 << 30,
		Disk:      4 << 30,
		Timeout:   Duration(15 * 60 * 1e9),
		Egress:    []string{},
		Artifacts: Artifacts{MaxFile: 25 << 20, MaxTotal: 100 << 20, MaxFiles: 200},
	}
}
