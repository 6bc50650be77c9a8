//go:build !linux

package queue

import (
	"context"
	"math"
)

// Measure finds room for everything: no VM runs on this system.
func Measure(string) (Room, error) {
	return Room{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64}, nil
}

func (q *Queue) enter(ctx context.Context, _ string, _ Need, _ func(string)) (func(), error) {
	return func() {}, ctx.Err()
}
