//go:build !linux

package e2btest

import (
	"context"

	"github.com/joystream-ai/joy/internal/fault"
)

// Namespaces needs Linux.
type Namespaces struct {
	Profile string // of the image (tiny)
}

// Start fails.
func (Namespaces) Start(context.Context) (Machine, error) {
	return nil, fault.New(fault.Platform, "a machine made of namespaces needs Linux")
}
