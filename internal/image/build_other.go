//go:build !linux

package image

import (
	"context"

	"github.com/joystream-ai/joy/internal/fault"
)

func build(_ context.Context, o Options) (Image, error) {
	return Image{}, Needs(o.Profile, o.LookupEnv)
}

// Needs says that this system has no local VMs.
func Needs(string, func(string) (string, bool)) error {
	return fault.New(fault.Platform, "local VM images are built on Linux only").
		WithHint("joy run --sandbox e2b works here")
}

func importImage(context.Context, string, ImportOptions) (Imported, error) {
	return Imported{}, Needs("", nil)
}
