//go:build unix

package examples_test

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

const skills = "repo-report/skills/"

var readers = []string{"count", "lint"}

// run gives data as the tree to one of the two skills that read it.
func run(t *testing.T, skill string, data []byte) (worldtest.Result, *worldtest.World) {
	t.Helper()
	w := worldtest.New(t, skills+skill)
	return w.Run(t, map[string]any{"repo": w.File(t, "repo.tar", data)}), w
}

func TestArchiveThatCannotBeReadFailsTheStep(t *testing.T) {
	whole := files(t, "a.go", strings.Repeat("package a\n", 500))
	tests := map[string]struct {
		data []byte
		want string
	}{
		"empty file":            {nil, "it is empty"},
		"text":                  {[]byte(strings.Repeat("hello\n", 200)), "it is not a tar"},
		"shorter than a header": {[]byte("PK"), "ends in the middle"},
		"zip":                   {[]byte("PK\x03\x04 and so on"), "compressed with zip"},
		"xz":                    {[]byte("\xfd7zXZ\x00 and so on"), "compressed with xz"},
		"cut in a file":         {whole[:2000], "ends in the middle of a member"},
		"cut in gzip":           {zip(t, whole)[:60], "gzip stream ends early"},
		"damaged gzip":          {append(zip(t, whole)[:10], 0xff, 0xff, 0xff, 0xff), "gzip stream is damaged"},
		"wrong checksum":        {append([]byte{'z'}, whole[1:]...), "checksum is wrong"},
		"negative size":         {raw("a", '0', "-0000000001", ""), "wrong number"},
		"huge extended header":  {raw("x", 'x', "77777777777", ""), "larger than 1 MiB"},
		"record of no length":   {raw("x", 'x', "00000000010", "0 path=a"), "record of an extended header"},
		"record too long":       {raw("x", 'x', "00000000010", "99 p=abc"), "record of an extended header"},
		"record without key":    {raw("x", 'x', "00000000006", "6 abc\n"), "record of an extended header"},
		"size that is none":     {raw("x", 'x', "00000000012", "10 size=x\n"), "record of an extended header"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, skill := range readers {
				result, _ := run(t, skill, tt.data)
				require.Equal(t, 1, result.Exit)
				require.Contains(t, result.Stderr, tt.want)
				require.NotContains(t, result.Stderr, "Traceback")
				require.Empty(t, result.Stdout)
			}
		})
	}
}

func TestStepWithoutInputFails(t *testing.T) {
	for _, skill := range []string{"count", "lint", "render"} {
		result := worldtest.New(t, skills+skill).Run(t, nil)
		require.Equal(t, 1, result.Exit)
		require.Contains(t, result.Stderr, "JOY_INPUT must name a JSON file")
	}
}

func TestHostileMembersAreNotFollowed(t *testing.T) {
	data := archive(t,
		member{name: "good.go", body: "package good\n"},
		member{name: "../climbs.go", body: "package climbs\n"},
		member{name: "a/../../climbs.go", body: "package climbs\n"},
		member{name: "/tmp/joy-absolute.go", body: "package absolute\n"},
		member{name: strings.Repeat("long/", 300) + "x.go", body: "package long\n"},
		member{name: "passwd", kind: tar.TypeSymlink, link: "/etc/passwd"},
		member{name: "up", kind: tar.TypeSymlink, link: "../.."},
		member{name: "hard", kind: tar.TypeLink, link: "/etc/shadow"},
		member{name: "up/through-the-link.go", body: "package through\n"},
		member{name: "tty", kind: tar.TypeChar},
		member{name: "pipe", kind: tar.TypeFifo},
		member{name: "good.go", body: "package again\n\n\n"},
	)
	result, w := run(t, "count", data)
	require.EqualValues(t, 2, result.Value["files"], "good.go once, and the file below a link, which is only a name here")
	require.EqualValues(t, 2, result.Value["lines"])
	require.Equal(t, map[string]any{
		"links": 3.0, "special": 2.0, "unsafe_names": 4.0, "repeated_names": 1.0, "only_head_read": 0.0,
	}, result.Value["passed_over"])
	require.Len(t, w.Files(t), 2, "only the input is there, in two files")

	result, w = run(t, "lint", data)
	require.Len(t, found(result, "unsafe-name"), 4)
	require.Equal(t, []string{"hard: -> /etc/shadow leaves the tree", "passwd: -> /etc/passwd leaves the tree", "up: -> ../.. leaves the tree"}, found(result, "dead-symlink"))
	require.Len(t, w.Files(t), 3, "and findings.jsonl")
	require.NotContains(t, result.Stdout, "root:", "nothing of /etc/passwd")
}

func TestNamesThatDoNotPrintAreSpelledOut(t *testing.T) {
	data := files(t,
		"new\nline.go", "package a\n",
		"esc\x1b[2J.go", "package a\n",
		"latin\xe9.go", "package a\n",
		"turn\u202eog.go", "package a\n",
		"plain é.go", "package a\n",
	)
	result, _ := run(t, "count", data)
	var paths []string
	for _, row := range result.Value["largest"].([]any) {
		paths = append(paths, row.(map[string]any)["path"].(string))
	}
	require.ElementsMatch(t, []string{`new\nline.go`, `esc\x1b[2J.go`, `latin\xe9.go`, `turn\u202eog.go`, "plain é.go"}, paths)
}

func TestBombIsGivenUpAndSaid(t *testing.T) {
	// One member that claims a tebibyte; gzip members of zeros follow each other, 520 MiB in half a megabyte.
	start := zip(t, append(files(t, "a.go", "package a\n")[:1024], raw("bomb", '0', "\x80\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00", "")...))
	data := append(start, bytes.Repeat(zip(t, make([]byte, 1<<20)), 520)...)
	for _, skill := range readers {
		result, _ := run(t, skill, data)
		require.Equal(t, 0, result.Exit, result.Stderr)
		require.Equal(t, "more than 512 MiB unpacked", result.Value["incomplete"])
	}
}

func TestNamesAreBounded(t *testing.T) {
	var buf bytes.Buffer
	for i := range 200 {
		name := strings.Repeat("d/", 480) + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		buf.Write(archive(t, member{name: string(rune('A'+i%50)) + string(rune('A'+i/50)) + "/" + name})[:2048])
	}
	result, _ := run(t, "count", buf.Bytes())
	require.Equal(t, 0, result.Exit, result.Stderr)
	require.Equal(t, "more than 16 MiB of names", result.Value["incomplete"], "a deep name implies many directories")
}
