package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

// Each lock is well-formed and has the digest of what it says, as one made by hand would.
func TestNoLockLeadsOutside(t *testing.T) {
	repin := func(p *Plan, i int) {
		var files []digest.File
		for _, f := range p.Skills[i].Files {
			files = append(files, digest.File(f))
		}
		p.Skills[i].Digest = digest.Tree(files)
	}
	file := func(path string) func(p *Plan) {
		return func(p *Plan) { p.Skills[1].Files[0].Path = path; repin(p, 1) }
	}
	for name, tc := range map[string]struct {
		change func(p *Plan)
		want   string
	}{
		"file above":          {file("../../.ssh/id"), "leaves its directory"},
		"file absolute":       {file("/etc/passwd"), "leaves its directory"},
		"file with backslash": {file(`..\x`), "leaves its directory"},
		"file on a drive":     {file("C:x"), "leaves its directory"},
		"file with dots":      {file("a/../b"), "leaves its directory"},
		"file with NUL":       {file("a\x00b"), "leaves its directory"},
		"file named nothing":  {file(""), "leaves its directory"},
		"file mode":           {func(p *Plan) { p.Skills[1].Files[0].Mode = "4755"; repin(p, 1) }, "mode"},
		"file size":           {func(p *Plan) { p.Skills[1].Files[0].Size = -1; repin(p, 1) }, "negative"},
		"file sha256":         {func(p *Plan) { p.Skills[1].Files[0].SHA256 = "abc"; repin(p, 1) }, "sha256"},
		"files out of order":  {func(p *Plan) { f := p.Skills[0].Files; f[0], f[1] = f[1], f[0] }, "not in order"},
		"skill digest":        {func(p *Plan) { p.Skills[0].Digest = p.Skills[1].Digest }, "does not fit its files"},
		"skill path":          {func(p *Plan) { p.Skills[0].Path = "../skills" }, "leaves the project"},
		"skill name":          {func(p *Plan) { p.Skills[0].Name = "a/b" }, "skill name"},
		"skill twice":         {func(p *Plan) { p.Skills[1].Name = "count" }, "there twice"},
		"spec path":           {func(p *Plan) { p.Agent.Spec.Path = "../joy.yaml" }, "leaves its directory"},
		"agent name":          {func(p *Plan) { p.Agent.Name = "../x" }, "agent.name"},
		"workspace":           {func(p *Plan) { p.Agent.Workspace = "a/b" }, "agent.workspace"},
		"key":                 {func(p *Plan) { p.Model.Key = "sk-live" }, "secret:NAME"},
		"setup":               {func(p *Plan) { p.Setup.Run.Path = "/bin/sh" }, "leaves its directory"},
		"setup command":       {func(p *Plan) { p.Setup.Argv = nil }, "no command that starts"},
		"setup NUL":           {func(p *Plan) { p.Setup.Argv = []string{"sh\x00"} }, "a NUL"},
		"setup egress":        {func(p *Plan) { p.Setup.Egress = []string{"a.com"} }, "does not grant"},
		"policy":              {func(p *Plan) { p.Policy.CPUs = 1000 }, "policy.cpus"},
		"no policy":           {func(p *Plan) { p.Policy.Memory = 0 }, "policy.memory"},
		"image":               {func(p *Plan) { d := "latest"; p.Image.Microvm.AMD64 = &d }, "not a digest"},
		"profile":             {func(p *Plan) { p.Image.Profile = "../x" }, "image.profile"},
		"no step":             {func(p *Plan) { p.Steps = nil }, "1 to 2000 steps"},
		"step id":             {func(p *Plan) { p.Steps[0].ID = "../x" }, "step id"},
		"step setup":          {func(p *Plan) { p.Steps[2].ID = "setup" }, "step id"},
		"step twice":          {func(p *Plan) { p.Steps[2].ID = "tell" }, "there twice"},
		"step kind":           {func(p *Plan) { p.Steps[2].Kind = "host" }, `kind "host"`},
		"entry missing":       {func(p *Plan) { p.Steps[0].Entry = nil }, "has an entry"},
		"entry elsewhere":     {func(p *Plan) { p.Steps[0].Entry.Path = "../../bin/sh" }, "no file of skill"},
		"script on the host":  {func(p *Plan) { p.Steps[0].Sandbox.Required = false }, "must have a sandbox"},
		"script overridden":   {func(p *Plan) { p.Steps[0].Sandbox.Override = &Override{Reason: "x"} }, "must have a sandbox"},
		"no reason":           {func(p *Plan) { p.Steps[1].Sandbox.Override = &Override{Required: true} }, "no reason"},
		"model in the open": {func(p *Plan) {
			p.Model = &Model{Provider: "openai", Name: "m", BaseURL: "http://m.example.com/v1", MaxTurns: 1, MaxTokens: 1}
		}, "base_url is not the address"},
		"model with entry":   {func(p *Plan) { p.Steps[1].Entry = p.Steps[0].Entry }, "has no entry"},
		"unknown skill":      {func(p *Plan) { p.Steps[1].Skill = "x" }, `no skill "x"`},
		"unknown action":     {func(p *Plan) { p.Steps[2].Action = "drive.rm" }, "no tool pinned"},
		"unknown grant":      {func(p *Plan) { p.Steps[1].Tools[0].Action = "slack.post" }, "no tool pinned"},
		"unknown need":       {func(p *Plan) { p.Steps[1].Needs = []string{"count", "x"} }, "which is no step"},
		"needs out of order": {func(p *Plan) { p.Steps[1].Needs = []string{"drop", "count"} }, "not in order"},
		"hidden reference":   {func(p *Plan) { p.Steps[1].Needs = nil }, "without needing it"},
		"broken reference":   {func(p *Plan) { p.Steps[1].With = json.RawMessage(`{"a":"${{ env.HOME }}"}`) }, "a reference is"},
		"with list":          {func(p *Plan) { p.Steps[1].With = json.RawMessage(`[]`) }, "not an object"},
		"step egress":        {func(p *Plan) { p.Steps[0].Egress = []string{"a.com"} }, "does not grant"},
		"step timeout":       {func(p *Plan) { p.Steps[0].Timeout = 1 }, "out of bounds"},
		"approve":            {func(p *Plan) { p.Steps[2].Approve = "always" }, "approve"},
		"cycle":              {func(p *Plan) { p.Steps[0].Needs = []string{"tell"} }, "count → tell → count"},
		"itself":             {func(p *Plan) { p.Steps[0].Needs = []string{"count"} }, "count → count"},
	} {
		p := sample(t)
		tc.change(p)
		_, err := Decode(encode(t, p), "joy.lock")
		require.ErrorContains(t, err, tc.want, name)
		f := fault.All(err)[0]
		require.Equal(t, fault.Input, f.Kind, name)
		require.Contains(t, f.Hint, "joy build", name)
	}
}

func TestAPlaceIsTold(t *testing.T) {
	p := sample(t)
	p.Skills[1].Path = "../tell"
	data := encode(t, p)
	_, err := Decode(data, "joy.lock")
	line := fault.All(err)[0].Line
	require.Contains(t, strings.Split(string(data), "\n")[line-1], "../tell")
}

func TestCleanPath(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "a/..", "/a", "a//b", "a/", "./a", `a\b`, "a:b", "con", "a\n", "a./b"} {
		require.False(t, CleanPath(bad), bad)
	}
	require.True(t, CleanPath("scripts/é.py"))
}
