package image

import (
	"context"
	"io"
	"path/filepath"
	"strconv"

	"github.com/joystream-ai/joy/internal/fault"
)

// squash makes the root file system from the tar that fill writes. zstd at level 3 packs a base image in a second and
// an emulated CPU unpacks it quickest; no time in it is later than the build's epoch, and the bytes depend on the tar
// and on the version of mksquashfs alone.
func (b *builder) squash(ctx context.Context, fill func(w io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pr, pw := io.Pipe()
	filled := make(chan error, 1)
	go func() {
		err := fill(pw)
		if err != nil {
			cancel() // half a tar must not become an image: mksquashfs would take its end for a full stop
		}
		filled <- err
		pw.CloseWithError(err)
	}()
	err := b.run(ctx, tool{
		argv: []string{"mksquashfs", "-", filepath.Join(b.stage, RootFile), "-tar", "-comp", "zstd", "-Xcompression-level", "3",
			"-noappend", "-no-progress", "-quiet", "-root-mode", "0755", "-root-uid", "0", "-root-gid", "0"},
		env:   []string{b.epochEnv()},
		stdin: pr,
	})
	pr.CloseWithError(io.ErrClosedPipe)
	if fillErr := <-filled; fillErr != nil && (err == nil || ctx.Err() != nil) {
		err = fillErr
	}
	if err != nil {
		return fault.Wrap(fault.KindOf(err), err, "make the root file system")
	}
	return nil
}

// epochEnv tells tools the latest time they may write: https://reproducible-builds.org/specs/source-date-epoch/
func (b *builder) epochEnv() string {
	return "SOURCE_DATE_EPOCH=" + strconv.FormatInt(b.epoch.Unix(), 10)
}
