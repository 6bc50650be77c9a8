package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/notekey"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/state"
)

func lookFor(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err)
	return path
}

// recordUntilKilled is a program that records a run as joy run does, with the same packages in the same order, but by eight
// hands that do nothing else, until it is killed or has written enough: record-until-killed PROJECT [ENTRIES]. It prints
// the run's id, and then the number of each entry that is on the disk.
func recordUntilKilled() {
	enough := int64(400)
	if len(os.Args) > 2 {
		enough, _ = strconv.ParseInt(os.Args[2], 10, 64)
	}
	if err := recordRun(os.Args[1], enough); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func recordRun(project string, enough int64) error {
	lock, err := os.ReadFile(filepath.Join(project, "joy.lock"))
	if err != nil {
		return err
	}
	p, err := plan.Decode(lock, "joy.lock")
	if err != nil {
		return err
	}
	st, err := state.Open(project, "")
	if err != nil {
		return err
	}
	store, err := artifact.Open(st.ObjectsDir())
	if err != nil {
		return err
	}
	defer store.Close()
	id, err := state.NewID(time.Now(), rand.Reader)
	if err != nil {
		return err
	}
	index := state.OpenIndex(filepath.Join(os.Getenv("XDG_STATE_HOME"), "joy"))
	if err := index.Put(state.Live{Run: id, StateDir: st.Path(), Process: state.Self()}); err != nil {
		return err
	}
	run, err := st.NewRun(id)
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(run.Dir, "logs"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(run.Dir, "joy.lock"), lock, 0o600); err != nil {
		return err
	}
	w, err := ledger.Create(run.Dir, id, p.Digest, ledger.Options{})
	if err != nil {
		return err
	}
	if err := index.PutHead(state.Head{Run: id, StateDir: st.Path()}); err != nil {
		return err
	}
	if err := fill(w, store, p, id, enough); err != nil {
		return err
	}
	if _, err := w.Effect(ledger.RunFinished, "", ledger.Data{"outcome": "succeeded"}); err != nil {
		return err
	}
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "joy", "workspaces", p.Agent.Workspace+".key")
	key, err := notekey.Workspace.Read(path)
	if err != nil {
		key, err = notekey.Workspace.New(path, p.Agent.Workspace, rand.Reader)
	}
	if err != nil {
		return err
	}
	_, err = w.Seal(key, func(s ledger.Seal) {
		if err := index.PutHead(state.Head{Run: id, StateDir: st.Path(), Entries: s.Entries, Head: s.Head}); err != nil {
			panic(err)
		}
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return index.Remove(id)
}

// fill records and stores until there are enough entries.
func fill(w *ledger.Writer, store *artifact.Store, p *plan.Plan, id string, enough int64) error {
	fmt.Println(id)
	if _, err := w.Effect(ledger.RunStarted, "", ledger.Data{"agent": p.Agent.Name, "workspace": p.Agent.Workspace}); err != nil {
		return err
	}
	errs := make(chan error, 8)
	var hands sync.WaitGroup
	for hand := range cap(errs) {
		hands.Go(func() { errs <- work(w, store, hand, enough) })
	}
	hands.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// work is one hand's. Some of what it stores others store too.
func work(w *ledger.Writer, store *artifact.Store, hand int, enough int64) error {
	for i := 0; ; i++ {
		seq, err := w.Effect(ledger.CommandStarted, "work", ledger.Data{"command": "true", "bytes": 4})
		if err != nil {
			return err
		}
		fmt.Println(seq)
		if seq > enough {
			return nil
		}
		body := make([]byte, 1+(i*7919+hand%4)%100_000)
		put := store.PutBytes
		if i%2 == 0 {
			put = store.PutSoon
		}
		obj, err := put(body)
		if err != nil {
			return err
		}
		if _, err := w.Append(ledger.ArtifactStored, "work", ledger.Data{"name": fmt.Sprint(hand, i), "bytes": obj.Size, "sha256": obj.Digest}); err != nil {
			return err
		}
	}
}
