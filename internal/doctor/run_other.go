//go:build !linux

package doctor

import (
	"context"
	"runtime"

	"github.com/joystream-ai/joy/internal/queue"
)

func run(context.Context, Machine) []Check {
	return []Check{{"system", Warn, "no local VMs on " + runtime.GOOS, "joy run --sandbox e2b"}}
}

func boot(context.Context, Machine, *queue.Queue) []Check { return nil }
