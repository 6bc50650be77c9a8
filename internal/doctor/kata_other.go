//go:build !linux

package doctor

import (
	"context"
	"errors"

	"github.com/joystream-ai/joy/internal/sandbox/kata"
)

// Kata looks at what VMs of Kata Containers need, which is Linux.
type Kata struct {
	Provider         *kata.Provider
	Runtime, Address string
	Wanted           bool
	Lives            func(run string) bool
}

// FindShim finds none.
func FindShim(string) (string, error) { return "", errors.New("Kata Containers need Linux") } //nolint:staticcheck // a name

// Run says so.
func (k Kata) Run(context.Context) []Check {
	return []Check{{"kata-runtime", Fail, "Kata Containers need Linux", "joy run --sandbox e2b"}}
}

// Boot makes none.
func (k Kata) Boot(context.Context) []Check { return nil }
