package image

import (
	"context"
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
	st, err := in.Stat()
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read the packed root")
	}
	at := phase(b.Progress, "packing the root file system", st.Size())
	epoch := strconv.FormatInt(newest.Unix(), 10)
	// mksquashfs 4.5 takes -root-mode but neither -root-uid nor -root-time for a tar: hence asRoot and the variable,
	// https://reproducible-builds.org/specs/source-date-epoch/. It refuses the variable together with -mkfs-time.
	return b.run(ctx, tool{
		argv: append([]string{
			"mksquashfs", "-", filepath.Join(b.stage, RootFile), "-tar", "-comp", "zstd", "-Xcompression-level", "3",
			"-noappend", "-no-progress", "-quiet", "-root-mode", "0755",
		}, options...),
		env:    []string{"SOURCE_DATE_EPOCH=" + epoch},
		stdin:  at.count(in),
		asRoot: true,
	})
}
