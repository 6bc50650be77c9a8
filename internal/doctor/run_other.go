//go:build !linux

package doctor

import (
	"context"
	"runtime"
)

func run(context.Context, Machine) []Check {
	return []Check{{"system", Warn, "no local VMs on " + runtime.GOOS, "joy run --sandbox e2b"}}
}
