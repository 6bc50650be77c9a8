package digest

import (
	"io/fs"
	"runtime"

	"github.com/joystream-ai/joy/internal/fault"
)

// Limits of a bundle, when Options name no others.
const (
	MaxFiles      = 5000      // files and directories together
	MaxFileBytes  = 64 << 20  // of one file, as it is on disk
	MaxTotalBytes = 256 << 20 // of all files, as they are on disk
	MaxLevels     = 32        // directories inside each other
)

// Rules that Walk reports, as the Code of a *fault.Error.
const (
	RuleName      = "JOY-FILE-NAME" // a name other systems cannot store
	RuleCollision = "JOY-COLLISION" // two names some file system takes for one
	RuleLink      = "JOY-LINK"      // a symbolic link
	RuleSpecial   = "JOY-SPECIAL"   // a device, FIFO or socket
	RuleLimit     = "JOY-LIMIT"     // too many, too large, too deep
)

// Options change how a bundle is read. The zero value is right for a bundle on the host's own disk.
type Options struct {
	// Held has bytes on disk that the caller read already, by path as the file system spells it; they are not read
	// a second time.
	Held map[string][]byte

	// Raw names files that the line end rule leaves alone.
	Raw Globs

	// NoExecBit says that the file system's modes mean nothing. It is taken as set on Windows. A file is then
	// executable when Modes says so or, where Modes does not know it, when it begins with "#!".
	NoExecBit bool

	// Modes knows modes from a manifest, such as git's index read by GitModes, for paths in their NFC form. It is
	// asked only where the file system has no modes. nil knows none.
	Modes func(path string) (mode string, ok bool)

	// Limits replaces the defaults field by field; zero keeps one.
	Limits Limits
}

// Limits bounds a bundle. See the constants for units and defaults.
type Limits struct {
	Files, Levels         int
	FileBytes, TotalBytes int64
}

func (l Limits) withDefaults() Limits {
	if l.Files == 0 {
		l.Files = MaxFiles
	}
	if l.Levels == 0 {
		l.Levels = MaxLevels
	}
	if l.FileBytes == 0 {
		l.FileBytes = MaxFileBytes
	}
	if l.TotalBytes == 0 {
		l.TotalBytes = MaxTotalBytes
	}
	return l
}

// Listing is what Walk found.
type Listing struct {
	Files     []File   // sorted by path, bytewise
	Converted []string // paths taken with LF in place of CRLF, sorted
	Nested    []string // directories that are bundles of their own and are not covered, sorted
}

// Digest names the files.
func (l Listing) Digest() string { return Tree(l.Files) }

// Walk reads every file of the bundle in dir of fsys once, in order of path, and hands visit the bytes it pins. Data is
// visit's to keep. A nil visit is allowed; visit's error ends the walk and is returned as it is.
//
// Left out: the fixed ignore list, nested bundles, empty directories. Refused, with every offender named in one joined
// error of *fault.Error (kind Input, one of the Rules as code, places joined to dir): links of any kind, devices, FIFOs,
// sockets, names that CheckName refuses, names that differ only in case or in how accents are spelled, and what exceeds
// a limit. Nothing is visited when a name or a link was refused.
//
// A link swapped in between listing and opening is caught by fsys itself when it is an os.Root's; use that for
// directories a stranger can write to.
func Walk(fsys fs.FS, dir string, opts Options, visit func(Content) error) (Listing, error) {
	w := newWalker(fsys, dir, opts)
	if err := w.list(); err != nil {
		return Listing{}, err
	}
	if len(w.faults) > 0 {
		return Listing{}, w.refused()
	}
	out := Listing{Nested: w.nested}
	for _, e := range w.entries {
		disk, mode, err := w.read(e)
		if err != nil {
			return Listing{}, err
		}
		c := Pin(e.path, mode, disk, opts.Raw.Match(e.path))
		out.Files = append(out.Files, c.File)
		if c.Converted {
			out.Converted = append(out.Converted, e.path)
		}
		if visit == nil {
			continue
		}
		if err := visit(c); err != nil {
			return Listing{}, err
		}
	}
	return out, nil
}

// hasExecBit says whether modes of the file system mean something.
func (o Options) hasExecBit() bool { return !o.NoExecBit && runtime.GOOS != "windows" }

// mode decides between ModePlain and ModeExec. known is false when it was guessed from the first bytes.
func (o Options) mode(path string, perm fs.FileMode, disk []byte) (mode string, known bool) {
	if o.hasExecBit() {
		return modeIf(perm&0o100 != 0), true // the owner's bit, as git reads it
	}
	if o.Modes != nil {
		if m, ok := o.Modes(path); ok {
			return m, true
		}
	}
	return modeIf(len(disk) > 1 && disk[0] == '#' && disk[1] == '!'), false
}

func modeIf(exec bool) string {
	if exec {
		return ModeExec
	}
	return ModePlain
}

func (w *walker) refuse(rule, raw, hint, format string, args ...any) {
	f := fault.New(fault.Input, format, args...).At(w.place(raw), 0, 0)
	f.Code, f.Hint = rule, hint
	w.faults = append(w.faults, f)
}
