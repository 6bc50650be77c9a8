package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// world is the guest's side of one step's world. Its keeper is PID 1 of the world's PID namespace; when the keeper
// dies, the kernel kills the rest.
type world struct {
	ground *ground
	id     string
	dir    string // on the scratch disk: upper, work, workspace, root
	cgroup string
	keep   string            // the layer that upper becomes, or ""
	env    map[string]string // of every command
	keeper *keeperProcess    // nil until there is one
	door   net.Listener

	commands commands

	kits kits
	gone chan struct{} // closed when the world begins to end
	shut sync.Once

	laying sync.Mutex // files for the host to fetch, which have numbers

	casualties casualties
}

// keeperConfig is what the guest tells a keeper, first thing, over their socket.
type keeperConfig struct {
	Lower     []string `json:"lower"`             // overlay lower layers, nearest first
	Private   bool     `json:"private,omitempty"` // there is no overlay
	Dir       string   `json:"dir"`
	ReadOnly  []string `json:"read_only"`
	Workspace string   `json:"workspace"`
}

// newWorld makes the directories, the cgroup and the namespaces, and waits until the keeper says they are ready.
func newWorld(id string, spec guestproto.Open, g *ground, keeper func() (*keeperProcess, error)) (*world, error) {
	if !validID(id) {
		return nil, fmt.Errorf("world id %q", id)
	}
	lower, err := layers(spec.Layers)
	if err == nil && !g.overlay && (spec.Keep != "" || len(spec.Layers) > 0) {
		err = errors.New("the VM's kernel has no overlayfs, so nothing that a setup writes can be kept")
	}
	if err == nil && spec.Keep != "" {
		err = freeLayer(spec.Keep)
	}
	if err != nil {
		return nil, err
	}
	w := &world{
		ground: g, gone: make(chan struct{}), env: spec.Env,
		id: id, dir: filepath.Join(dirScratch, "worlds", id), cgroup: filepath.Join(dirSteps, id),
	}
	w.kits.parent, w.kits.far = w.cgroup, g.hosted
	w.casualties.of(w.cgroup)
	if err := w.make(lower, spec, keeper); err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.keep = spec.Keep // a world that was never whole leaves no layer
	go w.kits.prepare()
	return w, nil
}

func (w *world) make(lower []string, spec guestproto.Open, keeper func() (*keeperProcess, error)) error {
	if err := w.makeDirs(spec); err != nil {
		return err
	}
	if err := w.makeCgroup(spec.Alone); err != nil {
		return err
	}
	var err error
	if w.keeper, err = keeper(); err != nil {
		return err
	}
	err = w.settle(keeperConfig{
		Lower: lower, Private: !w.ground.overlay, Dir: w.dir, ReadOnly: spec.ReadOnly, Workspace: filepath.Join(w.dir, "workspace"),
	})
	if err != nil {
		return err
	}
	return w.keeper.forker.enter()
}

// validID accepts step ids only: the id becomes a path.
func validID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	return strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (w *world) makeDirs(spec guestproto.Open) error {
	if err := os.MkdirAll(filepath.Dir(w.dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		return err
	}
	if w.ground.quota {
		if err := w.limitDisk(spec.Alone); err != nil {
			return err
		}
	}
	dirs := []string{"upper", "work", "root", "workspace", "workspace/in", "workspace/out", "workspace/skills"}
	if w.ground.beside {
		dirs = append(dirs, guestproto.BesideDir)
	}
	for _, dir := range spec.ReadOnly {
		if !filepath.IsLocal(dir) {
			return fmt.Errorf("directory %q leaves /workspace", dir)
		}
		dirs = append(dirs, filepath.Join("workspace", dir))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) makeCgroup(alone bool) error {
	if err := os.Mkdir(w.cgroup, 0o755); err != nil {
		return err
	}
	if !w.ground.limits {
		return nil
	}
	if err := w.limitMemory(alone); err != nil {
		return err
	}
	return os.WriteFile(w.cgroup+"/pids.max", []byte(strconv.Itoa(w.ground.pids)), 0)
}

// worldNamespaces are what a world has of its own.
const worldNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// keeperProcess is a keeper in fresh namespaces that waits for its configuration, and the thread that forks there.
type keeperProcess struct {
	cmd     *exec.Cmd
	channel *channel
	forker  *forker
}

// startKeeper starts one, whose mount namespace is a copy of this one. Nothing of it depends on the world.
func startKeeper() (*keeperProcess, error) {
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := &exec.Cmd{
		Path:       "/proc/self/exe",
		Args:       []string{keeperName},
		Env:        []string{"GOMAXPROCS=2"},
		Stderr:     os.Stderr,
		ExtraFiles: []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags: worldNamespaces,
		},
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a keeper: %w", err), ours.Close())
	}
	k := &keeperProcess{cmd: cmd, channel: ours}
	if k.forker, err = newForker(cmd.Process.Pid); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// Close ends the keeper, with everything in its namespaces, and the thread.
func (k *keeperProcess) Close() error {
	errs := []error{k.forker.Close(), k.cmd.Process.Kill()}
	_ = k.cmd.Wait() // its status is "killed"
	return shutErr(append(errs, k.channel.Close())...)
}

// settle has the world's keeper set it up and waits until it says that it has.
func (w *world) settle(cfg keeperConfig) error {
	body, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	if err := w.keeper.channel.send(body); err != nil {
		return err
	}
	answer, files, err := w.keeper.channel.receive(1)
	if err != nil {
		return fmt.Errorf("the world's keeper died while it was set up: %w", err)
	}
	var reply guestproto.Reply
	if err := json.Unmarshal(answer, &reply); err != nil {
		return err
	}
	if reply.Error != "" {
		return errors.New(reply.Error)
	}
	if len(files) != 1 {
		return errors.New("the world's keeper sent no door")
	}
	defer files[0].Close()
	w.door, err = net.FileListener(files[0])
	return err
}

// close kills everything in the world and removes its files, but for a layer that is to be kept. The overlay goes with the mount namespace.
func (w *world) close() error {
	var err error
	w.shut.Do(func() { err = w.end() })
	return err
}

// over says whether the world has begun to end.
func (w *world) over() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

func (w *world) end() error {
	var errs []error
	close(w.gone)
	w.kits.Close()
	if w.door != nil {
		errs = append(errs, w.door.Close())
	}
	errs = append(errs, killCgroup(w.cgroup))
	if w.keeper != nil {
		errs = append(errs, w.keeper.Close())
	}
	errs = append(errs, removeCgroup(w.cgroup))
	w.casualties.Close()
	if w.keep != "" && shutErr(errs...) == nil {
		errs = append(errs, keepLayer(filepath.Join(w.dir, "upper"), w.keep))
	}
	errs = append(errs, removeTree(w.dir))
	return shutErr(errs...)
}
