package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func graphOf(steps ...[]string) *Plan {
	p := &Plan{}
	for _, s := range steps {
		p.Steps = append(p.Steps, Step{ID: s[0], Needs: s[1:]})
	}
	return p
}

func TestCycle(t *testing.T) {
	for _, tc := range []struct {
		p    *Plan
		want []string
	}{
		{graphOf([]string{"a", "a"}), []string{"a", "a"}},
		{graphOf([]string{"a", "b"}, []string{"b", "a"}), []string{"a", "b", "a"}},
		{graphOf([]string{"z", "a"}, []string{"a", "b"}, []string{"b", "c"}, []string{"c", "a"}), []string{"a", "b", "c", "a"}},
		{graphOf([]string{"a"}, []string{"b", "a"}, []string{"c", "a", "b"}), nil},
		{graphOf([]string{"a", "gone"}), nil},
	} {
		require.Equal(t, tc.want, Cycle(tc.p))
	}
}

func TestWaves(t *testing.T) {
	p := graphOf([]string{"d", "b", "c"}, []string{"b", "a"}, []string{"c", "a"}, []string{"a"}, []string{"e"})
	require.Equal(t, [][]string{{"a", "e"}, {"b", "c"}, {"d"}}, Waves(p))
	require.Equal(t, []string{"a", "e", "b", "c", "d"}, Order(p))
	require.Equal(t, map[string]bool{"a": true, "b": true, "c": true}, Ancestors(p, "d"))
	require.Empty(t, Ancestors(p, "a"))

	left := graphOf([]string{"a", "b"}, []string{"b", "a"}, []string{"c"}, []string{"d", "a"})
	require.Equal(t, [][]string{{"c"}}, Waves(left))
}

func TestAlone(t *testing.T) {
	p := graphOf([]string{"a"}, []string{"b", "a"}, []string{"c", "a"}, []string{"d", "b", "c"}, []string{"call", "a"})
	for i := range p.Steps {
		p.Steps[i].Sandbox.Required = p.Steps[i].ID != "call"
	}
	for id, want := range map[string]bool{"a": true, "b": false, "c": false, "d": true} {
		require.Equal(t, want, Alone(p, id), id)
	}
	require.True(t, Alone(graphOf([]string{"a"}), "a"))
}
