//go:build linux && !amd64

package main

// foreign: this architecture has no second table that a program could use.
func foreign() {}
