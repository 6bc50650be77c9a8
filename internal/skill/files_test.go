package skill_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/skill"
)

func TestBundleHoldsWhatItPins(t *testing.T) {
	b := load(t, bundleFS(
		"SKILL.md", "---\r\nname: my-skill\r\ndescription: ok\r\nmetadata:\r\n  joy.raw: \"*.bat\"\r\n---\r\nHi.\r\n",
		"run.bat", "dir\r\n", "notes.txt", "a\r\nb\r\n", "logo.png", "\x89PNG\r\n\x1a\n", "joy.lock", "{}",
		"inner/SKILL.md", "not even front matter", "inner/x", ""))
	require.Equal(t, digest.Tree(b.Files), b.Digest)
	require.Len(t, b.Files, 4)
	for _, f := range b.Files {
		require.Equal(t, digest.Bytes(b.Contents[f.Path]), "sha256:"+f.SHA256)
	}
	require.Equal(t, "dir\r\n", string(b.Contents["run.bat"]))
	require.Equal(t, "a\nb\n", string(b.Contents["notes.txt"]))
	require.NotContains(t, b.Contents, "inner/x")

	var got [][3]string
	for _, f := range b.Findings {
		got = append(got, [3]string{f.Rule, f.Severity, f.File})
	}
	require.Equal(t, [][3]string{
		{skill.RuleLineEnds, skill.SeverityNote, "my-skill/SKILL.md"},
		{skill.RuleNested, skill.SeverityNote, "my-skill/inner"},
		{skill.RuleLineEnds, skill.SeverityNote, "my-skill/notes.txt"},
	}, got)
}

// A byte order mark and CRLF change how SKILL.md is read by nobody: the first is pinned, the second is not.
func TestCheckoutsOfOneSkill(t *testing.T) {
	lf := load(t, bundleFS("SKILL.md", skillMD("", "Tea.\n")))
	crlf := load(t, bundleFS("SKILL.md", "---\r\nname: my-skill\r\ndescription: Advice on tea.\r\n---\r\nTea.\r\n"))
	require.Equal(t, lf.Digest, crlf.Digest)
	bom := load(t, bundleFS("SKILL.md", "\ufeff"+skillMD("", "Tea.\n")))
	require.NotEqual(t, lf.Digest, bom.Digest)
	require.Equal(t, lf.Body, bom.Body)
}

func TestFilesThatNoBundleMayHold(t *testing.T) {
	m := bundleFS("SKILL.md", skillMD("", ""), "a:b", "")
	m["my-skill/ref"] = &fstest.MapFile{Data: []byte("../../.ssh"), Mode: fs.ModeSymlink}
	_, err := skill.Load(m, "my-skill", skill.Options{})
	faults := fault.All(err)
	require.Len(t, faults, 2)
	require.Equal(t, []string{digest.RuleName, digest.RuleLink}, []string{faults[0].Code, faults[1].Code})
	require.Equal(t, "my-skill/ref", faults[1].File)

	both := bundleFS("SKILL.md", skillMD("", ""), "skill.md", skillMD("", ""))
	require.Equal(t, digest.RuleCollision, oneFault(t, both, skill.Options{}).Code)

	small := skill.Options{Read: digest.Options{Limits: digest.Limits{FileBytes: 100}}}
	require.Equal(t, digest.RuleLimit, oneFault(t, bundleFS("SKILL.md", skillMD("", ""), "big", string(make([]byte, 101))), small).Code)
	huge := bundleFS("SKILL.md", skillMD("", string(make([]byte, skill.MaxSkillFile))))
	require.Equal(t, digest.RuleLimit, oneFault(t, huge, skill.Options{}).Code)
}
