//go:build !linux

// Package katatest gives tests a containerd of their own, on Linux.
package katatest
