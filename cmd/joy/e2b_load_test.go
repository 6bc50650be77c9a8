//go:build linux

package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// much is a step that gives back the file it was given, and says 100 MB besides.
const much = `#!/bin/sh
cp /workspace/in/big out/back || exit 1
head -c 100000000 /dev/zero >&2
echo '{}'
`

// What is large passes whole, and joy does not hold it.
func TestMuchAtE2B(t *testing.T) {
	b, server := e2bProject(t, e2btest.Options{})
	b.write("joy.yaml", `version: 1
name: far
description: Carries much.
e2b_template: base
inputs: {type: object, required: [f], properties: {f: {type: string, format: file}}}
skills: [s]
steps: [{id: s, skill: s, with: {f: "${{ inputs.f }}"}}]
policy: {artifacts: {max_file: 64MiB, max_total: 64MiB}}
`)
	b.write("s/run.sh", much)
	code, _, stderr := b.run("build")
	require.Zero(t, code, stderr)
	file := make([]byte, 50<<20)
	_, _ = rand.Read(file) // never fails
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "big"), file, 0o600))

	p := b.start("run", "--sandbox", "e2b", "--jsonl", "--input", "f=@big")
	peak := p.peakAtKill(server)
	require.Zero(t, p.exitCode(), "%s", &p.stderr)
	entries := b.ledger()
	stored := only(entries, "artifact.stored")
	require.Len(t, stored, 1)
	require.Equal(t, digestOf(file), stored[0].Data["sha256"])
	said := only(entries, "command.finished")[0].Data["stderr"].(map[string]any)
	require.EqualValues(t, 100_000_000, said["bytes"])
	require.Equal(t, digestOf(make([]byte, 100_000_000)), said["sha256"])
	t.Logf("joy held at most %d MiB", peak.Load()>>20)
	require.Positive(t, peak.Load())
	require.Less(t, peak.Load(), int64(128<<20))
	require.Empty(t, server.Sandboxes())
	b.verifies(0)
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
