//go:build linux

package e2b

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// rig is a provider and the service it makes sandboxes at.
type rig struct {
	*Provider
	server *e2btest.Server
}

func newRig(t testing.TB, opts e2btest.Options) *rig {
	t.Helper()
	if testing.Short() {
		t.Skip("starts machines")
	}
	server := e2btest.Start(t, opts)
	guest := sandboxtest.Guest(t)
	return &rig{&Provider{Client: clientOf(t, server), Owner: owner("me"), Guest: guest}, server}
}

func clientOf(t testing.TB, server *e2btest.Server) *client.Client {
	t.Helper()
	env := map[string]string{}
	for _, kv := range server.Env() {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	c, err := client.New(client.FromEnv(func(k string) (string, bool) { v, ok := env[k]; return v, ok }))
	require.NoError(t, err)
	return c
}

// owner is a user whose key is his name.
func owner(name string) Owner {
	sum := func(msg []byte) []byte {
		mac := hmac.New(sha256.New, []byte(name))
		mac.Write(msg)
		return mac.Sum(nil)
	}
	return Owner{
		Name: name, Host: "here", Sign: func(msg []byte) ([]byte, error) { return sum(msg), nil },
		Verify: func(msg, sig []byte) bool { return hmac.Equal(sig, sum(msg)) },
	}
}

// spec asks for what every machine has.
func (r *rig) spec() sandbox.Spec {
	return sandbox.Spec{Run: "20261129-180300-abcdef", Image: Pin("base", r.server.Build("base")), Isolation: "any", CPUs: 1, Memory: 64 << 20, Disk: 64 << 20}
}

// create makes a sandbox that the test ends.
func (r *rig) create(t testing.TB, spec sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), sandboxtest.Patience)
	defer cancel()
	sb, err := r.Create(ctx, spec)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sb.Destroy(context.Background())) })
	return sb
}
