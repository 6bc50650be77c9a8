package export_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/export"
)

var update = flag.Bool("update", false, "write what is exported into testdata")

// TestGolden holds the exports of the sealed vector, which docs/ledger.md shows: the same bytes from the same ledger.
func TestGolden(t *testing.T) {
	vectors := filepath.Join("..", "..", "..", "testdata", "ledger")
	lines, err := os.ReadFile(filepath.Join(vectors, "sealed.jsonl"))
	require.NoError(t, err)
	seal, err := os.ReadFile(filepath.Join(vectors, "sealed.note"))
	require.NoError(t, err)
	beside := func(r *export.Run) { r.Seal = seal }
	for name, format := range map[string]string{"table.csv": "csv", "trace.json": "otlp", "envelope.json": "in-toto"} {
		out, err := exported(t, format, lines, beside)
		require.NoError(t, err, name)
		switch format {
		case "csv":
			out = strings.ReplaceAll(out, "\r\n", "\n") // git may change it
		case "otlp":
			out = indented(t, out)
		case "in-toto":
			env, _, _ := decode(t, out)
			payload, err := env.DecodeB64Payload()
			require.NoError(t, err)
			golden(t, "statement.json", indented(t, string(payload)))
		}
		golden(t, name, out)
	}
	block, err := workspaceKey(t, "acme").Public.PEM()
	require.NoError(t, err)
	golden(t, "acme.pem", block)
}

func indented(t *testing.T, doc string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, []byte(strings.TrimSpace(doc)), "", "  "))
	return b.String() + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run go test ./internal/ledger/export -update")
}
