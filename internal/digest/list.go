package digest

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// walker lists a bundle first and reads it after, so that a refused bundle is refused before any of it is used.
type walker struct {
	fsys    fs.FS
	root    string
	opts    Options
	limits  Limits
	entries []entry
	nested  []string
	faults  []*fault.Error
	seen    int   // files and directories
	total   int64 // bytes read
}

// entry is one regular file.
type entry struct {
	raw  string // as the file system spells it, for opening
	path string // NFC, for the record
}

func newWalker(fsys fs.FS, dir string, opts Options) *walker {
	return &walker{fsys: fsys, root: path.Clean(dir), opts: opts, limits: opts.Limits.withDefaults()}
}

// list fills entries, nested and faults. Its own error is what keeps the listing from being complete.
func (w *walker) list() error {
	if err := w.directory(".", 0); err != nil {
		return err
	}
	slices.SortFunc(w.entries, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	slices.SortFunc(w.faults, func(a, b *fault.Error) int { return cmp.Compare(a.File, b.File) })
	slices.Sort(w.nested)
	return nil
}

func (w *walker) directory(raw string, level int) error {
	children, err := ordinary.ReadDir(w.fsys, path.Join(w.root, raw))
	if err != nil {
		return fault.Wrap(fault.Input, err, "read a directory of the bundle").At(w.place(raw), 0, 0)
	}
	isSkill := func(d fs.DirEntry) bool { return IsSkillFile(d.Name()) }
	if level > 0 && slices.ContainsFunc(children, isSkill) {
		w.nested = append(w.nested, norm.NFC.String(raw))
		return nil
	}
	if level > w.limits.Levels {
		return w.exceeded(raw, "directories lie more than %d levels deep", w.limits.Levels)
	}
	names := map[string]string{}
	for _, d := range children {
		if ignored(d.Name(), level == 0) {
			continue
		}
		if w.seen++; w.seen > w.limits.Files {
			return w.exceeded(".", "the bundle has more than %d files and directories", w.limits.Files)
		}
		if err := w.child(raw, d, level, names); err != nil {
			return err
		}
	}
	return nil
}

// child judges one entry of a directory. names holds the ones judged before it, by what they may be confused with.
func (w *walker) child(dir string, d fs.DirEntry, level int, names map[string]string) error {
	name, raw := d.Name(), path.Join(dir, d.Name())
	if err := CheckName(name); err != nil {
		w.refuse(RuleName, raw, "rename it", "%v", err)
		return nil
	}
	key := sameName(name)
	if other, ok := names[key]; ok {
		w.refuse(RuleCollision, raw, "rename one of the two", "name %+q is the same file as %+q on other systems", name, other)
		return nil
	}
	names[key] = name
	switch t := d.Type(); {
	case t.IsDir():
		return w.directory(raw, level+1)
	case t.IsRegular():
		w.entries = append(w.entries, entry{raw, norm.NFC.String(raw)})
	case t&fs.ModeSymlink != 0:
		w.refuse(RuleLink, raw, "put a copy of what it leads to in its place", "a bundle holds no links: %s", w.linkTarget(raw))
	default:
		w.refuse(RuleSpecial, raw, "remove it", "a bundle holds regular files only, and this is a device, FIFO or socket")
	}
	return nil
}

// linkTarget says in words where a link leads. It reads the link, never what the link leads to.
func (w *walker) linkTarget(raw string) string {
	target, err := fs.ReadLink(w.fsys, path.Join(w.root, raw))
	if err != nil {
		return "this one cannot be read"
	}
	to := path.Join(path.Dir(raw), strings.ReplaceAll(target, `\`, "/"))
	if path.IsAbs(target) || !fs.ValidPath(to) {
		return "this one leads out of the bundle, to " + target
	}
	if _, err := fs.Lstat(w.fsys, path.Join(w.root, to)); err != nil {
		return "this one leads to " + target + ", which is not there"
	}
	return "this one leads to " + target
}

// read returns the bytes of a file on disk and its mode; the file is opened once.
func (w *walker) read(e entry) ([]byte, string, error) {
	disk, perm, err := w.open(e)
	if err != nil {
		return nil, "", err
	}
	if w.total += int64(len(disk)); w.total > w.limits.TotalBytes {
		return nil, "", w.exceeded(".", "the bundle is larger than %d bytes", w.limits.TotalBytes)
	}
	mode, _ := w.opts.mode(e.path, perm, disk)
	return disk, mode, nil
}

func (w *walker) open(e entry) (disk []byte, perm fs.FileMode, err error) {
	f, err := w.fsys.Open(path.Join(w.root, e.raw))
	if err != nil {
		return nil, 0, fault.Wrap(fault.Input, err, "open a file of the bundle").At(w.place(e.raw), 0, 0)
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it was replaced while it was read")
	}
	if err != nil {
		return nil, 0, fault.Wrap(fault.Input, err, "read a file of the bundle").At(w.place(e.raw), 0, 0)
	}
	if held, ok := w.opts.Held[e.raw]; ok {
		return held, st.Mode(), nil
	}
	var buf bytes.Buffer
	buf.Grow(int(min(max(st.Size(), 0), w.limits.FileBytes)) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.LimitReader(f, w.limits.FileBytes+1)); err != nil {
		return nil, 0, fault.Wrap(fault.Input, err, "read a file of the bundle").At(w.place(e.raw), 0, 0)
	}
	if int64(buf.Len()) > w.limits.FileBytes {
		return nil, 0, w.exceeded(e.raw, "the file is larger than %d bytes", w.limits.FileBytes)
	}
	return buf.Bytes(), st.Mode(), nil
}

func (w *walker) exceeded(raw, format string, args ...any) error {
	f := fault.New(fault.Input, format, args...).At(w.place(raw), 0, 0).
		WithHint("move what the skill does not need out of the bundle")
	f.Code = RuleLimit
	return f
}

// place is how a path of the bundle is shown: with the bundle's own directory before it.
func (w *walker) place(raw string) string {
	return strings.ToValidUTF8(path.Join(w.root, raw), "\uFFFD")
}

func (w *walker) refused() error {
	errs := make([]error, len(w.faults))
	for i, f := range w.faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}
