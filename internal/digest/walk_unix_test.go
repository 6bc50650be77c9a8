//go:build unix

package digest_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

func TestWalkRefusesWhatIsNoFile(t *testing.T) {
	cases := []struct {
		name, rule, says string
		make             func(dir string) error
	}{
		{"link out", digest.RuleLink, "leads out of the bundle, to ../../.ssh", func(d string) error {
			return os.Symlink("../../.ssh", filepath.Join(d, "x"))
		}},
		{"absolute link", digest.RuleLink, "leads out of the bundle, to /etc/shadow", func(d string) error {
			return os.Symlink("/etc/shadow", filepath.Join(d, "x"))
		}},
		{"dangling link", digest.RuleLink, "leads to gone, which is not there", func(d string) error {
			return os.Symlink("gone", filepath.Join(d, "x"))
		}},
		{"link to a file of the bundle", digest.RuleLink, "leads to SKILL.md", func(d string) error {
			return os.Symlink("SKILL.md", filepath.Join(d, "x"))
		}},
		{"directory that links to its parent", digest.RuleLink, "leads to .", func(d string) error {
			return os.Symlink(".", filepath.Join(d, "x"))
		}},
		{"FIFO", digest.RuleSpecial, "regular files only", func(d string) error {
			return syscall.Mkfifo(filepath.Join(d, "x"), 0o600)
		}},
		{"name that is not UTF-8", digest.RuleName, "UTF-8", func(d string) error {
			return os.WriteFile(filepath.Join(d, "x\xff"), nil, 0o600)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), nil, 0o600))
			if err := c.make(dir); err != nil {
				t.Skipf("this file system refuses the case: %v", err)
			}
			_, err := digest.Walk(os.DirFS(dir), ".", digest.Options{}, nil)
			faults := fault.All(err)
			require.Len(t, faults, 1)
			require.Equal(t, c.rule, faults[0].Code)
			require.ErrorContains(t, err, c.says)
		})
	}
}
