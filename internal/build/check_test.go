package build

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

func TestCheckNamesWhatDrifted(t *testing.T) {
	fsys := project(both, advice, count)
	lock := build(t, fsys).Lock
	rep, err := Check(context.Background(), lock, "joy.lock", Options{FS: fsys})
	require.NoError(t, err)
	require.Empty(t, rep.Changes)

	fsys["skills/count/scripts/count.py"].Data = []byte("print(\"[]\")\n") // the same size
	rep, err = Check(context.Background(), lock, "joy.lock", Options{FS: fsys})
	require.NoError(t, err)
	require.Len(t, rep.Changes, 1)
	require.Contains(t, rep.Changes[0].String(), "skill count: file scripts/count.py")

	_, err = Check(context.Background(), append(lock, ' '), "joy.lock", Options{FS: fsys})
	require.Equal(t, fault.Drift, fault.KindOf(err))
}

func TestBetterRulesAreANote(t *testing.T) {
	fsys := project("-- joy.yaml --\nversion: 1\nname: a\nskills: [skills/advice]\n", advice)
	old := *build(t, fsys).Plan
	old.Rules--
	old.Steps = append([]plan.Step{}, old.Steps...)
	old.Steps[0].Sandbox.Evidence = []plan.Evidence{{Rule: "JOY-OLD", File: "skills/advice/SKILL.md", Detail: "an older judgement"}}
	lock, err := plan.Encode(&old)
	require.NoError(t, err)

	rep, err := Check(context.Background(), lock, "joy.lock", Options{FS: fsys})
	require.NoError(t, err)
	require.Empty(t, rep.Changes)
	require.Contains(t, rep.Notes[0], "would change")
	require.Contains(t, rep.Notes[0], "an older judgement")

	rep, err = Check(context.Background(), lock, "joy.lock", Options{FS: fsys, Strict: true})
	require.NoError(t, err)
	require.NotEmpty(t, rep.Changes)

	fsys["skills/advice/SKILL.md"].Data = append(fsys["skills/advice/SKILL.md"].Data, "More.\n"...)
	rep, err = Check(context.Background(), lock, "joy.lock", Options{FS: fsys})
	require.NoError(t, err)
	require.NotEmpty(t, rep.Changes, "changed bytes are drift under any rules")
}

func TestOutsidePinsAreKept(t *testing.T) {
	fsys := project(both, advice, count)
	pin := digest.Bytes([]byte("image"))
	local := func(profile, arch string) string {
		if profile == "base" && arch == "amd64" {
			return pin
		}
		return ""
	}
	first, err := Build(context.Background(), Options{FS: fsys, Images: local})
	require.NoError(t, err)
	require.Equal(t, &pin, first.Plan.Image.Microvm.AMD64)
	require.Nil(t, first.Plan.Image.Microvm.ARM64)

	other := func(string, string) string { return digest.Bytes([]byte("a newer image")) }
	second, err := Build(context.Background(), Options{FS: fsys, Old: first.Plan, Images: other})
	require.NoError(t, err)
	require.Equal(t, &pin, second.Plan.Image.Microvm.AMD64, "kept")
	require.Equal(t, 2, OutsidePins(second.Plan))

	rep, err := Check(context.Background(), second.Lock, "joy.lock", Options{FS: fsys})
	require.NoError(t, err)
	require.Empty(t, rep.Changes, "a lock of one machine is valid on another")
	require.Equal(t, 2, rep.Outside)

	full := project(both+"image: full\n", advice, count)
	third, err := Build(context.Background(), Options{FS: full, Old: second.Plan})
	require.NoError(t, err)
	require.Nil(t, third.Plan.Image.Microvm.AMD64, "a pin of another profile is no pin")
}

func TestLinksAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making a link needs a privilege there")
	}
	dir := onDisk(t, project(both, advice, count))
	lock := filepath.Join(dir, LockName)
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("keep"), 0o600))
	require.NoError(t, os.Symlink(victim, lock))
	_, err := WriteLock(lock, []byte("{}"))
	require.ErrorContains(t, err, "not a regular file")
	kept, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "keep", string(kept))

	require.NoError(t, os.Rename(filepath.Join(dir, "skills"), filepath.Join(dir, "real")))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "skills")))
	_, err = Build(context.Background(), Options{Dir: dir})
	require.ErrorContains(t, err, "goes through a link")

	// A wildcard does not leave out in silence what a link leads to.
	require.NoError(t, os.Remove(filepath.Join(dir, "skills")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "skills"), 0o700))
	require.NoError(t, os.Rename(filepath.Join(dir, "real", "count"), filepath.Join(dir, "skills", "count")))
	require.NoError(t, os.Symlink("../real/advice", filepath.Join(dir, "skills", "advice")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, SpecName), []byte("version: 1\nname: a\nskills: ['skills/*']\n"), 0o600))
	_, err = Build(context.Background(), Options{Dir: dir})
	require.ErrorContains(t, err, "skills/* matches skills/advice, which goes through a link")
	require.Len(t, fault.All(err), 1)

	spec := filepath.Join(dir, SpecName)
	require.NoError(t, os.Remove(spec))
	require.NoError(t, os.Symlink(victim, spec))
	_, err = Build(context.Background(), Options{Dir: dir})
	require.ErrorContains(t, err, "not a regular file")
}

func TestACancelledBuildSaysSoOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Build(ctx, Options{FS: project(both, advice, count)})
	require.Equal(t, context.Canceled, err)
}
