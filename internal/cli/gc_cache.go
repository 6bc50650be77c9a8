package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
	"github.com/joystream-ai/joy/internal/term"
)

// gcResult is what joy gc has done, or would do.
type gcResult struct {
	Schema string           `json:"schema"`
	DryRun bool             `json:"dry_run"`
	Runs   []leftover       `json:"runs"`
	Cache  []image.Leftover `json:"cache"`
	Old    []*oldRun        `json:"old"`  // removed by --runs-older
	Kept   []keptRun        `json:"kept"` // old, and left alone
	Freed  int64            `json:"freed_bytes"`
}

// clearCache removes what nothing in the cache needs.
func (a *app) clearCache(ctx context.Context, unused time.Duration, dryRun bool) ([]image.Leftover, error) {
	before, cache := time.Now().Add(-unused), a.cfg.Dirs.Cache
	list, err := image.Trim(ctx, image.TrimOptions{CacheDir: cache, Unused: before, DryRun: dryRun, LookupEnv: a.env.LookupEnv})
	if err != nil {
		return list, err
	}
	var images []string
	here, _ := image.List(cache) // a damaged one starts nothing
	for _, img := range here {
		if d := img.Digest(); !slices.ContainsFunc(list, func(l image.Leftover) bool { return l.Name == d }) {
			images = append(images, d)
		}
	}
	snapshots, err := microvm.TrimSnapshots(cache, before, images, dryRun)
	for _, s := range snapshots {
		list = append(list, image.Leftover{
			Kind: "snapshot", Name: "snapshots/" + filepath.Base(s.Path), Size: s.Size, Used: s.Used.UTC().Format(time.RFC3339),
		})
	}
	return list, err
}

// parseAge reads a time as a person writes it: days, weeks, or what Go calls a duration.
func parseAge(text string) (time.Duration, error) {
	const most = 100 * 365 * 24 * time.Hour
	age, err := time.ParseDuration(text)
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if count, ok := strings.CutSuffix(text, unit); ok {
			var n uint64
			if n, err = strconv.ParseUint(count, 10, 16); err == nil {
				age = time.Duration(n) * length
			}
		}
	}
	if err != nil || age < 0 || age > most {
		return 0, fault.New(fault.Input, "%q is no time such as 30d, 12w or 720h", text)
	}
	return age, nil
}

// printGC says what was done; cleared, that the cache was looked through to its end.
func (a *app) printGC(g gcResult, cleared bool) error {
	for _, l := range g.Cache {
		g.Freed += l.Size
	}
	for _, o := range g.Old {
		g.Freed += o.Bytes
	}
	if a.json {
		g.Runs = notNil(g.Runs)
		g.Cache, g.Old, g.Kept = notNil(g.Cache), notNil(g.Old), notNil(g.Kept)
		return a.printJSON(g)
	}
	var b strings.Builder
	for _, l := range g.Runs {
		fmt.Fprintf(&b, "%s %s: %s\n", pick(g.DryRun, "would clear", "cleared"), l.Run, l.vms(g.DryRun))
	}
	for _, l := range g.Cache {
		fmt.Fprintf(&b, "%s %s %s, %s", pick(g.DryRun, "would remove", "removed"), l.Kind, term.Line(l.Name), size(l.Size))
		if l.Used != "" {
			fmt.Fprintf(&b, ", last used %s", l.Used[:len("2006-01-02")])
		}
		b.WriteByte('\n')
	}
	for _, o := range g.Old {
		fmt.Fprintf(&b, "%s %s\n", pick(g.DryRun, "would remove", "removed"), o.text())
	}
	for _, k := range g.Kept {
		fmt.Fprintf(&b, "%s run %s: %s\n", pick(g.DryRun, "would keep", "kept"), k.Run, term.Line(k.Reason))
	}
	if len(g.Cache)+len(g.Old) > 0 {
		fmt.Fprintf(&b, "%s %s%s\n", pick(g.DryRun, "would free", "freed"), size(g.Freed), pick(len(g.Old) == 0, " of the cache", ""))
	}
	if _, err := a.out.Write([]byte(b.String())); err != nil {
		return err
	}
	if len(g.Runs)+len(g.Old) == 0 {
		a.say("nothing was left behind")
	}
	if cleared && len(g.Cache) == 0 {
		a.say("nothing in the cache is left over")
	}
	return nil
}

// vms says what became of the run's VMs.
func (l leftover) vms(dryRun bool) string {
	if len(l.Alive) == 0 {
		return "no VM was left"
	}
	return fmt.Sprintf("%s %s: %v", plural(len(l.Alive), "VM"), pick(dryRun, "alive", "destroyed"), l.Alive)
}

// text names what is removed, with its size.
func (o *oldRun) text() string {
	what := "run " + o.Run
	if o.What == onlyBodies {
		what = "bodies of run " + o.Run
	}
	if o.Ended != "" {
		what += ", ended " + o.Ended[:len("2006-01-02")]
	}
	return fmt.Sprintf("%s, %s, %s", what, plural(o.Objects, "object"), size(o.Bytes))
}

func pick(yes bool, this, that string) string {
	if yes {
		return this
	}
	return that
}
