package image

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// squash makes the root file system from the tar at path and removes the tar. zstd at level 3 packs a base image in a
// second, and an emulated CPU unpacks it fast.
//
// No time in the result is later than newest, which the caller takes from the packages: files that were made during
// the build get that time, a file of a package keeps its own (Python checks its compiled modules against it). So the
// bytes follow from the packages and from the version of mksquashfs alone, not from the day of the build.
func (b *builder) squash(ctx context.Context, path string, newest time.Time, options ...string) error {
	in, err := os.Open(path)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read the packed root")
	}
	defer os.Remove(path)
	defer in.Close()
	epoch := strconv.FormatInt(newest.Unix(), 10)
	// mksquashfs 4.5 takes -root-mode but neither -root-uid nor -root-time for a tar: hence asRoot and the variable,
	// https://reproducible-builds.org/specs/source-date-epoch/. It refuses the variable together with -mkfs-time.
	return b.run(ctx, tool{
		argv: append([]string{
			"mksquashfs", "-", filepath.Join(b.stage, RootFile), "-tar", "-comp", "zstd", "-Xcompression-level", "3",
			"-noappend", "-no-progress", "-quiet", "-root-mode", "0755",
		}, options...),
		env:    []string{"SOURCE_DATE_EPOCH=" + epoch},
		stdin:  in,
		asRoot: true,
	})
}

// newestBefore is the time of the newest entry of the tar at path that is older than start: of the newest file that
// came out of a package, when the tree was made after start.
func newestBefore(path string, start time.Time) (time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	var newest time.Time
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return time.Time{}, err
		}
		if h.ModTime.Before(start) && h.ModTime.After(newest) {
			newest = h.ModTime
		}
	}
	if newest.IsZero() {
		return time.Time{}, errors.New("no file in it came out of a package")
	}
	return newest, nil
}
