//go:build !linux

package connection

import "github.com/joystream-ai/joy/internal/fault"

// confine has nothing to confine with here.
func confine(cfg Config, _, _ string) error {
	return fault.New(fault.Connection, "this system cannot confine a server").
		WithHint("say why it need not be confined: connections.%s.unconfined in joy.yaml", cfg.Name)
}
