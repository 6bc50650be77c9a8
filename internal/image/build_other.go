//go:build !linux

package image

import (
	"context"

	"github.com/joystream-ai/joy/internal/fault"
)

func build(context.Context, Options) (Image, error) {
	return Image{}, fault.New(fault.Platform, "local VM images are built on Linux only").
		WithHint("joy run --sandbox e2b works here")
}
