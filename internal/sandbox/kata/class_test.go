package kata

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

func TestClassOf(t *testing.T) {
	was := door
	t.Cleanup(func() { door = was })
	door = ""
	for _, name := range []string{
		"", "io.containerd.runc.v2", "io.containerd.runc.v1", "io.containerd.crun.v2", "io.containerd.runsc.v1", "runc", "kata", "io.containerd.kata.v1",
		"io.containerd.kata.v2.evil", "io.containerd.katana.v2", "/usr/bin/containerd-shim-kata-v2", "io.containerd.kata-/../runc.v2",
		"io.containerd.kata.v2\nx", "io.containerd.wasmtime.v1",
	} {
		_, err := classOf(name, false)
		require.Equal(t, fault.Policy, fault.KindOf(err), "%q", name)
		require.Contains(t, fault.All(err)[0].Hint, DefaultRuntime)
	}
	_, err := classOf("io.containerd.runc.v2", true)
	require.ErrorContains(t, err, "share this machine's kernel", "who allows gVisor allows nothing else")
	_, err = classOf("io.containerd.runsc.v1", false)
	require.ErrorContains(t, err, "is gVisor")
	require.Contains(t, fault.All(err)[0].Hint, "runtimes: [gvisor]")

	for name, want := range map[string]class{
		"io.containerd.kata.v2": classVM, "io.containerd.kata-qemu.v2": classVM, "io.containerd.kata-clh.v2": classVM,
		"io.containerd.kata-qemu-snp.v2": classVM, "io.containerd.runsc.v1": classGVisor,
	} {
		got, err := classOf(name, true)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestParseID(t *testing.T) {
	for _, id := range []string{"", "kata:", "kata:joy-x", "kata:joy-x@", "qemu:1:2", "kata:other@/run/s", "kata:joy-/../x@/run/s", "kata:joy-a b@/s"} {
		_, _, err := parseID(id)
		require.Error(t, err, "%q", id)
	}
	name, err := newContainer("20261129-180300-abcdef")
	require.NoError(t, err)
	container, address, err := parseID(indexID(name, "/run/k3s/containerd/containerd.sock"))
	require.NoError(t, err)
	require.Equal(t, []string{name, "/run/k3s/containerd/containerd.sock"}, []string{container, address})
	require.LessOrEqual(t, len(name), 76, "containerd's bound of an identifier")
}

func TestShim(t *testing.T) {
	for runtime, want := range map[string]string{
		"io.containerd.kata.v2": "containerd-shim-kata-v2", "io.containerd.kata-qemu.v2": "containerd-shim-kata-qemu-v2", "x": "containerd-shim-x",
	} {
		require.Equal(t, want, Shim(runtime))
	}
}

func TestCtr(t *testing.T) {
	for address, want := range map[string]string{
		"": "sudo ctr -n joy", DefaultAddress: "sudo ctr -n joy", "/run/k3s/containerd/containerd.sock": "sudo k3s ctr -n joy",
		"/run/x.sock": "sudo ctr -a /run/x.sock -n joy",
	} {
		require.Equal(t, want, Ctr(address))
	}
}
