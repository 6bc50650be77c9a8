package trust

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/secret"
)

const spec = `version: 1
name: report
skills: [skills/a]
model: {provider: anthropic, name: m, key: "secret:anthropic"}
connections:
  sales: {command: [./bin/sales-mcp, "a b"], env: {TOKEN: "secret:sales", ALPHA: "secret:other"}}
  drive: {url: https://mcp.example.com/drive, bearer: "secret:drive"}
policy: {egress: [files.example.com]}
`

func of(t *testing.T, dir, text string) Subject {
	t.Helper()
	s, err := agent.Parse([]byte(text), SpecName)
	require.NoError(t, err)
	return OfSpec(dir, s)
}

func nothing(string) (string, bool) { return "", false }

func TestLinesSayAllOfIt(t *testing.T) {
	require.Equal(t, []string{
		"contact https://mcp.example.com/drive for connection drive",
		"give connection drive the secret drive as bearer",
		`start "./bin/sales-mcp" "a b" for connection sales`,
		"give connection sales the secret other as ALPHA",
		"give connection sales the secret sales as TOKEN",
		"contact https://api.anthropic.com for model provider anthropic",
		"give model provider anthropic the secret anthropic as its key",
		"let the VM reach files.example.com",
	}, of(t, t.TempDir(), spec).Lines())
}

// Every one of these is another thing to allow.
func TestAChangeIsAnotherDigest(t *testing.T) {
	base := of(t, t.TempDir(), spec)
	seen := map[string]string{base.Digest(): "the first"}
	head := "version: 1\nname: report\nskills: [skills/a]\n"
	for name, text := range map[string]string{
		"nothing":           head,
		"a host":            head + "policy: {egress: [a.example.com]}\n",
		"another host":      head + "policy: {egress: [b.example.com]}\n",
		"a command":         head + "connections: {c: {command: [x, y]}}\n",
		"joined arguments":  head + "connections: {c: {command: ['x y']}}\n",
		"another name":      head + "connections: {d: {command: [x, y]}}\n",
		"unconfined":        head + "connections: {c: {command: [x, y], unconfined: r}}\n",
		"a secret":          head + "connections: {c: {command: [x, y], env: {A: 'secret:a'}}}\n",
		"another secret":    head + "connections: {c: {command: [x, y], env: {A: 'secret:b'}}}\n",
		"another variable":  head + "connections: {c: {command: [x, y], env: {B: 'secret:a'}}}\n",
		"a URL":             head + "connections: {c: {url: 'https://a.com'}}\n",
		"another URL":       head + "connections: {c: {url: 'https://a.com/x'}}\n",
		"a bearer":          head + "connections: {c: {url: 'https://a.com', bearer: 'secret:a'}}\n",
		"a model":           head + "model: {provider: anthropic, name: m}\n",
		"a model elsewhere": head + "model: {provider: anthropic, name: m, base_url: 'https://a.com'}\n",
		"a model's key":     head + "model: {provider: anthropic, name: m, key: 'secret:a'}\n",
	} {
		d := of(t, t.TempDir(), text).Digest()
		require.NotContains(t, seen, d, name)
		seen[d] = name
	}
	require.Equal(t, base.Digest(), of(t, t.TempDir(), spec+"description: Another.\n").Digest(), "what starts nothing does not matter")
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	s, sub := Open(filepath.Join(t.TempDir(), "state")), of(t, dir, spec)
	refused := func(sub Subject, lookup func(string) (string, bool), want string) {
		t.Helper()
		err := s.Check(sub, lookup)
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.Consent, fault.KindOf(err))
		require.Contains(t, fault.All(err)[0].Hint, "JOY_TRUST="+sub.Digest())
	}
	says := func(v string) func(string) (string, bool) {
		return func(k string) (string, bool) { return v, k == Variable }
	}
	refused(sub, nothing, "nobody has allowed yet")
	refused(sub, says("sha256:0"), "nobody has allowed yet")
	refused(sub, says(sub.Digest()+"0"), "nobody has allowed yet")
	require.NoError(t, s.Check(sub, says("sha256:0, "+sub.Digest())))
	require.NoError(t, s.Check(of(t, dir, "version: 1\nname: a\nskills: [s]\n"), nothing), "there is nothing to allow")

	require.NoError(t, s.Allow(sub, time.Now()))
	require.NoError(t, s.Check(sub, nothing))
	refused(of(t, t.TempDir(), spec), nothing, "nobody has allowed yet") // the same in another place
	more := of(t, dir, spec+"setup: {run: s.sh}\nfixtures: {}\n")
	require.NoError(t, s.Check(more, nothing))
	more.Hosts = append(more.Hosts, "evil.example")
	refused(more, nothing, "+ let the VM reach evil.example")
	less := sub
	less.Model = nil
	refused(less, nothing, "- contact https://api.anthropic.com") // what is allowed is one thing, not its parts

	found, err := s.List()
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, sub.Lines(), found[0].Subject.Lines())
	was, err := s.Revoke(sub.Project)
	require.NoError(t, err)
	require.True(t, was)
	refused(sub, nothing, "nobody has allowed yet")
	was, err = s.Revoke(sub.Project)
	require.NoError(t, err)
	require.False(t, was)
}

func TestAFileThatIsNotJoysAllowsNothing(t *testing.T) {
	dir, user := t.TempDir(), filepath.Join(t.TempDir(), "state")
	s, sub := Open(user), of(t, dir, spec)
	require.NoError(t, s.Allow(sub, time.Now()))
	path := s.file(sub.Project)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	wider := sub
	wider.Hosts = []string{"evil.example"}
	for _, text := range []string{
		"", "{}", "[]", string(good[:len(good)/2]),
		`{"project":"` + sub.Project + `","digest":"` + wider.Digest() + `"}`,
		`{"project":"/other","digest":"` + of(t, "/other", spec).Digest() + `"}`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.Error(t, s.Check(wider, nothing), text)
		require.Error(t, s.Check(sub, nothing), text)
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere"), path))
	require.ErrorContains(t, s.Check(sub, nothing), "not an ordinary file")
	_, err = s.List()
	require.ErrorContains(t, err, "cannot be read")
}

func TestOrigin(t *testing.T) {
	sub := of(t, t.TempDir(), spec)
	drive, ok := sub.Connection("drive")
	require.True(t, ok)
	at, err := sub.Origin(drive)
	require.NoError(t, err)
	want, err := secret.OriginOfURL("https://mcp.example.com")
	require.NoError(t, err)
	require.True(t, at.Equal(want))
	sales, _ := sub.Connection("sales")
	at, err = sub.Origin(sales)
	require.NoError(t, err)
	require.True(t, at.Equal(secret.OriginOfCommand(sub.Project, []string{"./bin/sales-mcp", "a b"})))
	_, ok = sub.Connection("none")
	require.False(t, ok)
	_, err = Model{Provider: "local"}.Origin()
	require.ErrorContains(t, err, "model provider local")
}

func TestOfDir(t *testing.T) {
	dir := t.TempDir()
	sub, err := OfDir(dir)
	require.NoError(t, err)
	require.True(t, sub.Empty(), "a bundle names nothing")
	path := filepath.Join(dir, SpecName)
	require.NoError(t, os.WriteFile(path, []byte(spec), 0o600))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	sub, err = OfDir(link)
	require.NoError(t, err)
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	require.Equal(t, real, sub.Project, "one project has one name")
	require.NoError(t, os.WriteFile(path, []byte("version: 9\n"), 0o600))
	_, err = OfDir(dir)
	require.Equal(t, fault.Input, fault.KindOf(err))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err = OfDir(dir)
	require.ErrorContains(t, err, "not an ordinary file")
}

func TestOfPlanIsWhatItsSpecWas(t *testing.T) {
	dir := t.TempDir()
	p := &plan.Plan{
		Policy: policy.Policy{Egress: []string{"files.example.com"}},
		Model:  &plan.Model{Provider: "anthropic", Name: "m", Key: "secret:anthropic"},
		Connections: map[string]plan.Connection{
			"sales": {
				Transport: plan.Stdio, Argv: []string{"./bin/sales-mcp", "a b"}, Env: []string{"ALPHA", "TOKEN"},
				Secrets: map[string]string{"TOKEN": "secret:sales", "ALPHA": "secret:other"},
			},
			"drive": {Transport: plan.HTTP, URL: "https://mcp.example.com/drive", Secrets: map[string]string{plan.Bearer: "secret:drive"}},
		},
	}
	require.Equal(t, of(t, dir, spec).Digest(), OfPlan(dir, p).Digest())
	p.Connections["drive"].Secrets[plan.Bearer] = "secret:other"
	require.NotEqual(t, of(t, dir, spec).Digest(), OfPlan(dir, p).Digest())
	require.True(t, OfPlan(dir, &plan.Plan{Model: &plan.Model{}}).Empty(), "an unset model contacts nobody")
}
