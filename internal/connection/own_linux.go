package connection

import "github.com/joystream-ai/joy/internal/thread"

// own runs f on a thread that ends with it: a child's death is tied to the thread that started it.
func own(f func()) { thread.Own(f) }

func shutOnExec() error { return thread.ShutOnExec() }
