package guestproto

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHost(t *testing.T) {
	for _, words := range [][]string{{"host"}, {""}, {"stdio", "stdout"}, {"scratch="}, {"scratch=/etc"}, {"scratch"}, {"--stdio"}, {"host-kernel="}} {
		_, err := ParseHost(words)
		require.ErrorContains(t, err, "knows no", "%q", words)
	}
	for _, want := range []Host{{}, {Stdio: true}, {Scratch: "/dev/x"}, {Kernel: "a-b"}, {true, "/dev/joy-scratch", "a-b"}} {
		args := want.Args()
		require.Equal(t, "host", args[0])
		got, err := ParseHost(args[1:])
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
