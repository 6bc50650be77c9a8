package skill_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/skill"
)

// bundleFS makes a bundle in directory my-skill from pairs of path and text.
func bundleFS(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m["my-skill/"+pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o644}
	}
	return m
}

// skillMD is a SKILL.md with the two required fields, more lines of front matter and a body.
func skillMD(more, body string) string {
	return "---\nname: my-skill\ndescription: Advice on tea.\n" + more + "---\n" + body
}

func load(t *testing.T, m fstest.MapFS) *skill.Bundle {
	t.Helper()
	b, err := skill.Load(m, "my-skill", skill.Options{})
	require.NoError(t, err)
	return b
}

// oneFault loads a bundle that has exactly one thing wrong with it.
func oneFault(t *testing.T, m fstest.MapFS, opts skill.Options) *fault.Error {
	t.Helper()
	b, err := skill.Load(m, "my-skill", opts)
	require.Nil(t, b)
	faults := fault.All(err)
	require.Len(t, faults, 1, "%v", err)
	require.Equal(t, fault.Input, faults[0].Kind)
	require.True(t, strings.HasPrefix(faults[0].File, "my-skill"), faults[0].File)
	return faults[0]
}

// rules lists the rules of findings or evidence, in order, each once.
func rules[T skill.Finding | skill.Evidence](list []T) []string {
	out := []string{}
	for _, x := range list {
		var rule string
		switch v := any(x).(type) {
		case skill.Finding:
			rule = v.Rule
		case skill.Evidence:
			rule = v.Rule
		}
		if len(out) == 0 || out[len(out)-1] != rule {
			out = append(out, rule)
		}
	}
	return out
}
