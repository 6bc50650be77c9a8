package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Limits of the environment: past them a value is left to input.json, which is always complete.
const (
	maxEnvValue = 64 << 10
	maxEnvTotal = 256 << 10
)

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// world opens a step's world and puts into it what product says it finds there: its bundle, its input, and the
// artifacts of its direct predecessors. Nothing else of the host, and nothing of another step.
func (r *run) world(ctx context.Context, sb sandbox.Sandbox, s plan.Step, skill plan.Skill, in *input, up map[string]*result, env map[string]string) (sandbox.World, error) {
	dir := path.Join("skills", skill.Name)
	w, err := sb.Open(ctx, sandbox.WorldSpec{ID: s.ID, Layers: r.layers(), Env: env, ReadOnly: []string{dir}, Alone: plan.Alone(r.Plan, s.ID)})
	if err != nil {
		return nil, err
	}
	for _, put := range []struct {
		dir   string
		files []sandbox.File
	}{{dir, r.bundleFiles(skill)}, {"in", r.inputFiles(in, up)}} {
		if err := w.Put(ctx, put.dir, put.files); err != nil {
			_ = r.leave(w)
			return nil, fmt.Errorf("filling /workspace/%s: %w", put.dir, err)
		}
	}
	return w, nil
}

func (r *run) bundleFiles(skill plan.Skill) []sandbox.File {
	files := make([]sandbox.File, len(skill.Files))
	for i, f := range skill.Files {
		mode, _ := strconv.ParseUint(f.Mode, 8, 32)
		files[i] = sandbox.File{Path: f.Path, Mode: uint32(mode), Size: f.Size, Open: func() (io.ReadCloser, error) {
			return r.Bundle(skill.Name, f)
		}}
	}
	return files
}

func (r *run) inputFiles(in *input, up map[string]*result) []sandbox.File {
	files := []sandbox.File{{Path: "input.json", Mode: 0o644, Size: int64(len(in.json)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(in.json)), nil
	}}}
	for _, name := range slices.Sorted(maps.Keys(in.files)) {
		f := in.files[name]
		files = append(files, sandbox.File{Path: f.Name, Mode: 0o644, Size: f.Size, Open: f.Open})
	}
	for _, id := range slices.Sorted(maps.Keys(up)) {
		for _, a := range up[id].Artifacts {
			files = append(files, sandbox.File{Path: path.Join(id, a.Name), Mode: 0o644, Size: a.Size, Open: func() (io.ReadCloser, error) {
				return r.Objects.Open("sha256:" + a.SHA256)
			}})
		}
	}
	return files
}

// baseEnvironment is what every command in the VM gets. With hosts to reach come the variables by which programs find a
// proxy: which of them a program reads, and in which case, differs
// (https://about.gitlab.com/blog/we-need-to-talk-no-proxy/); Node reads them only when it is told to.
func baseEnvironment(token string, egress []string) map[string]string {
	door := fmt.Sprintf("127.0.0.1:%d", guestproto.DoorPort)
	env := map[string]string{
		"PATH": searchPath, "HOME": "/root", "LANG": "C.UTF-8", "TZ": "UTC",
		"JOY_RUN_TOKEN": token, "JOY_API_URL": "http://" + door,
	}
	if len(egress) == 0 {
		return env
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		env[name] = "http://joy:" + token + "@" + door
	}
	env["NO_PROXY"], env["no_proxy"] = "127.0.0.1,localhost", "127.0.0.1,localhost"
	env["NODE_USE_ENV_PROXY"] = "1"
	return env
}

// environment is all that a step's commands get, and the names of the inputs that it has no room for: the longest are
// left out first.
func environment(s plan.Step, in *input, token string) (env map[string]string, left []string) {
	env = baseEnvironment(token, s.Egress)
	env["JOY_INPUT"] = "/workspace/in/input.json"
	env["JOY_SKILL_DIR"] = "/workspace/skills/" + s.Skill
	top, _ := in.tree.(map[string]any)
	values := map[string]string{}
	for name, v := range top {
		text, err := envText(v)
		if err != nil || len(text) > maxEnvValue || strings.Contains(text, "\x00") {
			left = append(left, plan.InputVariable(name))
			continue
		}
		values[plan.InputVariable(name)] = text
	}
	byLength := slices.Sorted(maps.Keys(values))
	slices.SortStableFunc(byLength, func(a, b string) int { return len(values[a]) - len(values[b]) })
	total := 0
	for _, name := range byLength {
		if total += len(values[name]); total > maxEnvTotal {
			left = append(left, name)
			continue
		}
		env[name] = values[name]
	}
	slices.Sort(left)
	return env, left
}

// envText is a scalar as text, and anything else as JSON.
func envText(v any) (string, error) {
	switch t := v.(type) {
	case string:
		return t, nil
	case json.Number:
		return t.String(), nil
	case bool:
		return strconv.FormatBool(t), nil
	case plan.ArtifactRef:
		return t.String(), nil
	case plan.Symbol:
		return t.String(), nil
	}
	b, err := marshal(v)
	return string(b), err
}
