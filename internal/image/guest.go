package image

import (
	"embed"

	"github.com/joystream-ai/joy/internal/fault"
)

// carried holds joy-guest as built by `make build`. The directory always has its README, so a checkout without the
// binaries compiles too.
//
//go:embed embed
var carried embed.FS

// Guest gives the joy-guest this joy carries for an architecture (amd64, arm64): a static Linux executable.
func Guest(arch string) ([]byte, error) {
	b, err := carried.ReadFile("embed/joy-guest-linux-" + arch)
	if err != nil {
		return nil, fault.New(fault.Platform, "this joy was built without joy-guest for linux/%s", arch).
			WithHint("make build")
	}
	return b, nil
}
