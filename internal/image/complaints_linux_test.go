package image

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

func TestComplaints(t *testing.T) {
	tidying := strings.Repeat("I: cleaning package lists and apt cache...\nremoved '/tmp/x'\n", 100)
	for name, tc := range map[string]struct{ said, want string }{
		"nothing":            {"", ""},
		"its work alone":     {"I: automatically chosen mode: root\n\n", ""},
		"no sign of a cause": {"a\nb\n\nc", ": a; b; c"},
		"a cause before its tidying": {
			"I: running apt-get update...\nErr:1 http://mirror.example bookworm\n  Could not resolve 'mirror.example'\nE: Unable to locate package nope\n" + tidying + "E: run_setup failed\n",
			": Err:1 http://mirror.example bookworm; E: Unable to locate package nope; E: run_setup failed",
		},
		"a bar that is drawn over": {"10%\r20%\rE: no space left\r", ": E: no space left"},
		"no text":                  {"E: \xff\n", ": E: \uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			var c complaints
			_, err := io.Copy(&c, iotest.OneByteReader(strings.NewReader(tc.said)))
			require.NoError(t, err)
			require.Equal(t, tc.want, c.lines())
		})
	}
	for _, much := range []string{"E: no\n", "x\n", "x", "E: no "} {
		var c complaints
		_, err := c.Write(bytes.Repeat([]byte(much), 1<<18))
		require.NoError(t, err)
		require.LessOrEqual(t, len(c.lines()), 2*maxComplaints)
	}
}

func TestToolsComplaint(t *testing.T) {
	b := &builder{Options: Options{LookupEnv: func(string) (string, bool) { return "", false }, Log: io.Discard}}
	const script = "echo 'E: Unable to locate package nope' >&2; for i in $(seq 500); do echo \"removed $i\" >&2; done; exit 25"
	err := b.run(t.Context(), tool{argv: []string{"/bin/sh", "-c", script}})
	require.EqualError(t, err, "sh failed: exit status 25: E: Unable to locate package nope")
	require.Equal(t, fault.Platform, fault.KindOf(err))
}
