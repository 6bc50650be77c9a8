package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
)

// WriteLock puts data at path and says whether that changed anything. A file with the same bytes is left as it is, its
// time too; another is replaced in one step, so that a reader sees the old lock or the new one. A link or anything else
// that is not a regular file is refused.
func WriteLock(path string, data []byte) (changed bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, fmt.Errorf("write the lock: %w", err)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("write the lock: %s is not a regular file", path)
	case info.Size() == int64(len(data)): // what is there may be of any size, and is read only when it can be the same
		old, err := ordinary.Read(path, plan.MaxBytes)
		if err == nil && bytes.Equal(old, data) {
			return false, nil
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".joy-lock-*")
	if err != nil {
		return false, fmt.Errorf("write the lock: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is the one to tell
		}
	}()
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return false, fmt.Errorf("write the lock: %w", err)
	}
	return true, nil
}
