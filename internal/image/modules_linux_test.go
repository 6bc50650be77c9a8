package image

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModuleDepends(t *testing.T) {
	deps, err := moduleDepends(module("license=GPL", "depends=virtio,virtio-ring", "name=x"))
	require.NoError(t, err)
	require.Equal(t, []string{"virtio", "virtio_ring"}, deps)
	signed := append(module("depends="), "~Module signature appended~\n"...)
	deps, err = moduleDepends(signed)
	require.NoError(t, err)
	require.Empty(t, deps)
	for _, bad := range [][]byte{nil, []byte("\x7fELF"), module("name=x"), module("depends=a")[:80]} {
		_, err := moduleDepends(bad)
		require.Error(t, err)
	}
}

func TestLoadOrder(t *testing.T) {
	deps := map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": nil, "loop": {"pool"}, "pool": {"loop"}, "self": {"self"}}
	order, missing, err := loadOrder([]string{"a", "c"}, deps)
	require.NoError(t, err)
	require.Equal(t, []string{"c", "b", "a"}, order)
	require.Empty(t, missing)
	require.Equal(t, []int{0, 1, 2}, []int{level("c", deps), level("b", deps), level("a", deps)})
	_, missing, err = loadOrder([]string{"a", "gone"}, deps)
	require.NoError(t, err)
	require.Equal(t, []string{"gone"}, missing)
	for _, m := range []string{"loop", "self"} {
		_, _, err = loadOrder([]string{m}, deps)
		require.ErrorContains(t, err, "depends on itself")
	}
}

func FuzzModuleDepends(f *testing.F) {
	f.Add(module("depends=a,b"))
	f.Add(module("x"))
	f.Fuzz(func(t *testing.T, ko []byte) {
		deps, err := moduleDepends(ko)
		if err != nil {
			require.Nil(t, deps)
		}
		for _, d := range deps {
			require.NotContains(t, d, "-")
			require.NotEmpty(t, d)
		}
	})
}
