package digest

import (
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/joystream-ai/joy/internal/fault"
)

// Kinds of a Difference.
const (
	Changed     = "changed" // other bytes
	Missing     = "missing" // pinned, and not there
	Added       = "added"   // there, and not pinned
	ModeChanged = "mode"    // executable in one and not in the other
	Refused     = "refused" // a link, device or name that no bundle may hold
)

// Difference is one way in which a bundle on disk is not what was pinned.
type Difference struct {
	Path string `json:"path"` // as the digest spells it; below the bundle
	Kind string `json:"kind"`
	Want string `json:"want"` // the pinned digest or mode; empty when nothing was pinned
	Got  string `json:"got"`  // the digest or mode on disk, or what was refused; empty when it is missing
}

// Fault is the difference as an error of kind Drift. dir is the bundle's directory as the user knows it.
func (d Difference) Fault(dir string) *fault.Error {
	var f *fault.Error
	switch d.Kind {
	case Missing:
		f = fault.New(fault.Drift, "the file is missing; it is pinned as %s", d.Want)
	case Added:
		f = fault.New(fault.Drift, "the file is not pinned; its digest is %s", d.Got)
	case ModeChanged:
		f = fault.New(fault.Drift, "the mode has changed: pinned %s, now %s", d.Want, d.Got)
	case Refused:
		f = fault.New(fault.Drift, "%s", d.Got)
	default:
		f = fault.New(fault.Drift, "the file has changed: pinned %s, now %s", d.Want, d.Got)
	}
	f.Code = "JOY-DRIFT"
	return f.At(strings.TrimPrefix(dir+"/"+d.Path, "./"), 0, 0).
		WithHint("run joy build to freeze what is there, or restore the file")
}

// Match reads the bundle in dir of fsys again and compares it with what was pinned. Only bytes count: every file is
// read, once, whatever its time or size say. A file agrees when its bytes are the pinned ones as they are or by the
// line end rule; visit gets the pinned bytes of each file that agrees, in order of path, so that a run uses exactly
// what was checked. A caller that gets differences or an error forgets what visit was given.
//
// Options.Raw has no effect: the pin decides. A mode is compared only where it is known, from the file system or from
// Options.Modes; the pinned mode is the one to use. The differences are sorted by path. The error is for what kept
// the bundle from being read to the end, and for visit's own.
func Match(fsys fs.FS, dir string, pinned []File, opts Options, visit func(Content) error) ([]Difference, error) {
	w := newWalker(fsys, dir, opts)
	if err := w.list(); err != nil {
		return nil, err
	}
	want := make(map[string]File, len(pinned))
	for _, f := range pinned {
		want[f.Path] = f
	}
	var diffs []Difference
	for _, f := range w.faults {
		p := norm.NFC.String(strings.TrimPrefix(f.File, w.root+"/"))
		diffs = append(diffs, Difference{Path: p, Kind: Refused, Got: f.Msg})
		delete(want, p)
	}
	for _, e := range w.entries {
		pin, known := want[e.path]
		delete(want, e.path)
		c, diff, err := w.compare(e, pin, known)
		if err != nil {
			return nil, err
		}
		diffs = append(diffs, diff...)
		if c == nil || visit == nil {
			continue
		}
		if err := visit(*c); err != nil {
			return nil, err
		}
	}
	for p, f := range want {
		diffs = append(diffs, Difference{Path: p, Kind: Missing, Want: prefix + f.SHA256})
	}
	slices.SortStableFunc(diffs, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return diffs, nil
}

// compare holds one file on disk against its pin. The content is nil when the bytes differ.
func (w *walker) compare(e entry, pin File, known bool) (*Content, []Difference, error) {
	disk, perm, err := w.open(e)
	if err != nil {
		return nil, nil, err
	}
	got := Pin(e.path, "", disk, false).File.SHA256
	if !known {
		return nil, []Difference{{Path: e.path, Kind: Added, Got: prefix + got}}, nil
	}
	data, ok := pin.Match(disk)
	if !ok {
		return nil, []Difference{{e.path, Changed, prefix + pin.SHA256, prefix + got}}, nil
	}
	c := &Content{File: pin, Data: data, Converted: len(data) != len(disk)}
	if mode, sure := w.opts.mode(e.path, perm, disk); sure && mode != pin.Mode {
		return c, []Difference{{e.path, ModeChanged, pin.Mode, mode}}, nil
	}
	return c, nil, nil
}
