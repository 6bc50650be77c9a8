// Package guestproto is the bytes between host and guest: the ready line, the session, and what a stream carries.
//
// The one rule: both ends are written against this package alone, and everything a reader accepts has a named cap, so
// that neither a hostile guest nor a broken host can make the other buffer without bound.
//
// After the ready line both ends hold a Session. Every stream opens with one Message holding a Request; what follows
// depends on its Op. docs/guest-protocol.md has the whole story.
package guestproto

import (
	"time"

	"github.com/joystream-ai/joy/internal/policy"
)

// Version changes whenever an old guest and a new host would misunderstand each other.
const Version = 4

// Ready is what the guest writes, once, before anything else: it has booted and now waits. No byte of the session has
// flowed yet, so this is where a memory snapshot may be taken. Its number is Version.
const Ready = "joy-guest 4\n"

// DoorPort is where the broker's door listens on 127.0.0.1 inside each world: J-O-Y on a telephone.
const DoorPort = 569

// Connections to the broker's door that are carried at once, for one world and for all of them. Further ones wait in
// the listener's backlog until one ends; each costs the guest a window of memory that no world pays for.
const (
	WorldDoors = 32
	MaxDoors   = 128
)

const (
	// Reserve is the memory that all worlds together leave to the guest itself, in bytes.
	Reserve = 64 << 20
	// WorldPids bounds the processes of one world. A small VM bounds them further.
	WorldPids = 4096
)

// Op is what a stream is for.
type Op string

// The operations. All are opened by the host but OpDoor, which the guest opens.
const (
	OpStart   Op = "start"   // once, first: clock, entropy
	OpOpen    Op = "open"    // make a world
	OpPut     Op = "put"     // a tar follows
	OpRun     Op = "run"     // frames both ways
	OpKill    Op = "kill"    // kill a command and everything it started
	OpCollect Op = "collect" // frames from the guest
	OpClose   Op = "close"   // end a world
	OpDoor    Op = "door"    // a connection to the broker's door: raw bytes both ways
	OpPing    Op = "ping"    // measures; see Ping
)

// Request opens a stream.
type Request struct {
	Op      Op       `json:"op"`
	World   string   `json:"world,omitempty"`
	Start   *Start   `json:"start,omitempty"`
	Open    *Open    `json:"open,omitempty"`
	Put     *Put     `json:"put,omitempty"`
	Run     *Run     `json:"run,omitempty"`
	Command int      `json:"command,omitempty"` // of OpKill: the Run's ID
	Collect *Collect `json:"collect,omitempty"`
	Ping    *Ping    `json:"ping,omitempty"`
}

// Reply answers every operation but OpDoor; an empty Error is success.
type Reply struct {
	Error string        `json:"error,omitempty"`
	Boot  *Boot         `json:"boot,omitempty"`
	Took  time.Duration `json:"took,omitempty"` // of a ping's command, fork to wait
}

// Start brings a booted guest to life.
type Start struct {
	Time    int64  `json:"time"`    // Unix nanoseconds on the host
	Entropy []byte `json:"entropy"` // mixed into the kernel's pool
	Bounds
}

// Bounds is a VM that a plan asks for, where a larger one may have come. Zero bounds nothing.
type Bounds struct {
	CPUs   int   `json:"cpus,omitempty"`
	Memory int64 `json:"memory,omitempty"` // of which all worlds together may use Reserve less
	Disk   int64 `json:"disk,omitempty"`   // that all worlds together may fill
}

// Boot is what the guest found.
type Boot struct {
	Kernel  string `json:"kernel"`
	Memory  int64  `json:"memory"`
	CPUs    int    `json:"cpus"`
	Disk    int64  `json:"disk,omitempty"` // of what Bounds asks for, what was free
	Cgroup2 bool   `json:"cgroup2"`
	// Beside is the directory in which the VM's other programs see those of the worlds, or "": they cannot.
	Beside string `json:"beside,omitempty"`
	// Missing is what holds a step in joy's own VM and cannot be had here, in words for the ledger.
	Missing []string `json:"missing,omitempty"`
	// Of a VM that is somebody else's, and of which the host asks whose kernel it has:
	BootID   string `json:"boot_id,omitempty"`  // random(4); "" where the kernel has none
	Boottime int64  `json:"boottime,omitempty"` // clock_gettime(2)'s CLOCK_BOOTTIME when it answers, in nanoseconds
	GVisor   bool   `json:"gvisor,omitempty"`   // the kernel is gVisor's
}

// Open describes a world; see sandbox.WorldSpec.
type Open struct {
	Layers   []string          `json:"layers,omitempty"`
	Keep     string            `json:"keep,omitempty"`
	Env      map[string]string `json:"env"`
	ReadOnly []string          `json:"read_only,omitempty"`
	Alone    bool              `json:"alone,omitempty"` // it need leave no room for other worlds
}

// Put says where the tar that follows is unpacked, relative to /workspace.
type Put struct {
	Dir    string `json:"dir"`
	Beside int    `json:"beside,omitempty"` // nothing follows: the tar is BesideIn of this number
}

// Run describes a command; see sandbox.Command. Frames follow: FrameStdin… and FrameStdinEOF to the guest, FrameStdout,
// FrameStderr and at last FrameExit (an Exit) or FrameError (a Reply: it never started) from it.
type Run struct {
	ID    int               `json:"id"` // chosen by the host, unique in the world
	Argv  []string          `json:"argv"`
	Env   map[string]string `json:"env,omitempty"`
	Stdin bool              `json:"stdin,omitempty"` // false: empty input
}

// Exit is how a command ended.
type Exit struct {
	Code     int           `json:"code"`
	Signal   string        `json:"signal,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Duration time.Duration `json:"duration"`
}

// Collect asks for /workspace/out. From the guest follow, for each file, FrameFile (a FileHeader), FrameData… and
// FrameFileEnd; FrameSkip (a FileHeader with Reason); at last FrameEnd or FrameError. With Beside, FrameBeside may stand
// for any number of those.
type Collect struct {
	Caps   policy.Artifacts `json:"caps"`
	Beside bool             `json:"beside,omitempty"` // a file may lie beside until the host ends the stream
}

// FileHeader is one entry of /workspace/out. Path is bytes: a name need not be UTF-8.
type FileHeader struct {
	Path    []byte `json:"path"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time,omitempty"` // Unix nanoseconds
	Reason  string `json:"reason,omitempty"`
	Beside  int    `json:"beside,omitempty"` // it has no FrameData: its bytes are in BesideOut of this number
	Count   int64  `json:"count,omitempty"`  // of a skip without a path: how many more have this reason
}

// Ping measures the channel and the guest's own fork. What the host sends after it, to its end, is thrown away; then
// the guest sends Send bytes that mean nothing, and the reply.
type Ping struct {
	Argv  []string `json:"argv,omitempty"`
	Count int      `json:"count,omitempty"` // of commands forked side by side; 0 is one
	Send  int64    `json:"send,omitempty"`
}
