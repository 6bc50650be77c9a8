//go:build linux

package e2btest

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/nodetest"
)

// The official SDK converses with the server; 2.45.0 still speaks the first version of create and connect.
func TestOfficialSDK(t *testing.T) {
	node, modules := nodetest.Node(t), nodetest.Modules(t)
	for name, create := range map[string]string{"e2b": "/v2/sandboxes", "e2b-v1": "/sandboxes"} {
		t.Run(name, func(t *testing.T) {
			srv := Start(t, Options{})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, "testdata/converse.mjs", filepath.Join(modules, name, "dist", "index.mjs"))
			cmd.Env = srv.Env()
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			require.NoError(t, err, "after:\n%s\n%s", out, said.String())
			require.Len(t, strings.Split(strings.TrimSpace(string(out)), "\n"), 31)
			require.Empty(t, srv.Sandboxes())
			require.Contains(t, srv.Requests(), "POST "+create)
			require.NotContains(t, srv.Requests(), "POST "+map[string]string{"e2b-v1": "/v2/sandboxes", "e2b": "/sandboxes"}[name])
		})
	}
}
