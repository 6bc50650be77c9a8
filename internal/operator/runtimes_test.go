package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAllowGVisor(t *testing.T) {
	const machine, user = "/etc/joy/policy.yaml", "/home/u/policy.yaml"
	for name, tc := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"no policy":             {nil, false},
		"nothing said":          {map[string]string{machine: "version: 1\n"}, false},
		"an empty list":         {map[string]string{machine: "version: 1\nruntimes: []\n"}, false},
		"the user alone":        {map[string]string{user: "version: 1\nruntimes: [gvisor]\n"}, false},
		"the user against it":   {map[string]string{machine: "version: 1\nruntimes: [gvisor]\n", user: "version: 1\nruntimes: []\n"}, false},
		"the machine":           {map[string]string{machine: "version: 1\nruntimes: [gvisor]\n"}, true},
		"the user says no word": {map[string]string{machine: "version: 1\nruntimes: [gvisor]\n", user: "version: 1\n"}, true},
		"both":                  {map[string]string{machine: "version: 1\nruntimes: [gvisor]\n", user: "version: 1\nruntimes: [gvisor]\n"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var ps Policies
			for _, file := range []string{machine, user} {
				if text, ok := tc.files[file]; ok {
					p, err := Parse([]byte(text), file)
					require.NoError(t, err)
					ps = append(ps, p)
				}
			}
			require.Equal(t, tc.want, ps.AllowGVisor(machine))
		})
	}
	_, err := Parse([]byte("version: 1\nruntimes: [runc]\n"), machine)
	require.ErrorContains(t, err, `"runc" is none of gvisor`)
}
