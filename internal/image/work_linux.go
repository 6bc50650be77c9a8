package image

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// workNote is the file of a stage that names mmdebstrap's own temporary directory: it lies elsewhere, since the other
// users that mmdebstrap works as cannot reach a cache below a private home.
const workNote = "work"

// workPrefix begins the name of such a directory; nothing else is ever swept outside the cache.
const workPrefix = "joy-image-"

// workDir makes the directory. It is noted before it is made, so that a build that is killed in between leaves
// nothing unknown.
func (b *builder) workDir() (string, error) {
	dir := filepath.Join(b.tempDir(), workPrefix+strings.TrimPrefix(filepath.Base(b.stage), stagePrefix))
	err := os.WriteFile(filepath.Join(b.stage, workNote), []byte(dir), 0o600)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = os.Chmod(dir, 0o777|fs.ModeSticky) // as /tmp itself
	}
	if err != nil {
		return "", fault.Wrap(fault.Platform, err, "make a directory for mmdebstrap")
	}
	return dir, nil
}

// removeWork removes the directory that a stage names, if it names one, and the note.
func (b *builder) removeWork(ctx context.Context, stage string) error {
	note := filepath.Join(stage, workNote)
	text, err := ordinary.Read(note, maxPointer)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	dir := string(text)
	if err == nil {
		err = b.removeTree(ctx, dir)
	}
	if err == nil {
		err = os.Remove(note)
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "remove what a build left in %s", dir)
	}
	return nil
}

// A build that was killed may have left tools that write for a while: they notice nothing until they are done.
const (
	endingLimit = time.Minute
	endingPoll  = time.Second
)

// removeTree deletes dir, which may belong to the other users mmdebstrap worked as. Nothing may be mounted below it:
// deleting would then reach into what is mounted.
func (b *builder) removeTree(ctx context.Context, dir string) error {
	if !filepath.IsAbs(dir) || !strings.HasPrefix(filepath.Base(dir), workPrefix) {
		return errors.New("not a directory of a build")
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	if bytes.Contains(mounts, []byte(" "+dir+"/")) {
		return errors.New("something is still mounted there: umount it first")
	}
	tick := time.NewTicker(endingPoll)
	defer tick.Stop()
	for end := time.Now().Add(endingLimit); ; {
		err := os.RemoveAll(dir)
		if err != nil && os.Geteuid() != 0 {
			err = b.run(ctx, tool{argv: []string{"mmdebstrap", "--unshare-helper", "rm", "-rf", "--one-file-system", "--", dir}})
			err = errors.Join(err, os.RemoveAll(dir)) // the helper may empty dir, but /tmp lets only its owner remove it
		}
		if _, gone := os.Lstat(dir); errors.Is(gone, fs.ErrNotExist) {
			return nil
		}
		if time.Now().After(end) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
