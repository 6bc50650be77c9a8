package image

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// epoch is the time of everything in an image that is made while it is built: the day Debian 12 was released. A file
// that comes from a package keeps its own time, which Python's compiled modules are checked against. So the bytes of
// an image follow from the packages alone, not from the day of the build.
var epoch = time.Date(2023, time.June, 10, 0, 0, 0, 0, time.UTC)

// squash makes the root file system from the tar that fill writes. zstd at level 3 packs a base image in a second,
// and an emulated CPU unpacks it fast. The bytes depend on the tar and on the version of mksquashfs alone.
func (b *builder) squash(ctx context.Context, fill func(ctx context.Context, w io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pr, pw := io.Pipe()
	filled := make(chan error, 1)
	go func() {
		err := fill(ctx, pw)
		if err != nil {
			cancel() // mksquashfs takes the end of half a tar for its end
		}
		filled <- err
		pw.CloseWithError(err)
	}()
	at := strconv.FormatInt(epoch.Unix(), 10)
	err := b.run(ctx, tool{
		argv: []string{"mksquashfs", "-", filepath.Join(b.stage, RootFile), "-tar", "-comp", "zstd", "-Xcompression-level", "3",
			"-noappend", "-no-progress", "-quiet", "-mkfs-time", at, "-root-time", at, "-root-mode", "0755", "-root-uid", "0", "-root-gid", "0"},
		stdin: pr,
	})
	pr.CloseWithError(errReader)
	if fillErr := <-filled; fillErr != nil && !errors.Is(fillErr, errReader) {
		err = fillErr
	}
	if err != nil {
		return fault.Wrap(fault.KindOf(err), err, "make the root file system")
	}
	return nil
}

// errReader is what fill's writes fail with once mksquashfs has ended.
var errReader = errors.New("mksquashfs has ended")

// retime copies a tar; what changed at since or later is dated epoch.
func retime(w io.Writer, r io.Reader, since time.Time) error {
	tr, tw := tar.NewReader(r), tar.NewWriter(w)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !h.ModTime.Before(since) {
			h.ModTime = epoch
		}
		h.ModTime = h.ModTime.Truncate(time.Second) // all that squashfs keeps
		h.AccessTime, h.ChangeTime = time.Time{}, time.Time{}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(tw, tr); err != nil {
			return err
		}
	}
	if err := tw.Close(); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, r) // a tar ends in padding that its writer must get rid of
	return err
}
