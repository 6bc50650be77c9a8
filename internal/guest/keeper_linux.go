package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// keeperName is argv[0] of a world's keeper, keeperFD its end of the channel.
const (
	keeperName = "joy-keeper"
	keeperFD   = 3
)

// keep is the main of a world's keeper: PID 1 there, which sets the world up and then only has to live. What the world's
// commands leave behind becomes its children; the kernel reaps them. It returns when the guest closes their socket, which
// ends the world.
func keep() error {
	// No command may trace it (ptrace(2)): it has what they have not, and is not dumpable.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	if err := deafen(); err != nil {
		return err
	}
	ch := &channel{blocking: keeperFD}
	rehearse()
	door, early := furnish()
	body, _, err := ch.receive(0)
	if err != nil {
		return err
	}
	var cfg keeperConfig
	if err := json.Unmarshal(body, &cfg); err != nil {
		return err
	}
	err = early
	if err == nil {
		err = enter(cfg)
	}
	reply, _ := json.Marshal(replyOf(err))
	if err != nil {
		return errors.Join(err, ch.send(reply))
	}
	if err := ch.send(reply, door); err != nil {
		return err
	}
	door.Close()
	_, _, err = ch.receive(0)
	return err
}

// furnish does in the fresh namespaces what is the same in every world; a keeper may do it long before its world is
// asked for, and be in a snapshot meanwhile: what a restored guest need not do, it need not translate. It returns the
// door's listening socket, which lives in this network namespace. Mounts made later in the guest's own root arrive here,
// such as the scratch disk; nothing goes back.
func furnish() (*os.File, error) {
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return nil, fmt.Errorf("keeping mounts to this world: %w", err)
	}
	if err := unix.Sethostname([]byte(Hostname)); err != nil {
		return nil, err
	}
	if err := buildSystem(); err != nil {
		return nil, err
	}
	if err := loopbackUp(); err != nil {
		return nil, fmt.Errorf("bringing up lo: %w", err)
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: guestproto.DoorPort})
	if err != nil {
		return nil, fmt.Errorf("opening the door: %w", err)
	}
	defer listener.Close()
	return listener.File()
}

// enter turns the namespaces into the world of product.md.
func enter(cfg keeperConfig) error {
	root := filepath.Join(cfg.Dir, "root")
	base := overlay(root, cfg.Lower, filepath.Join(cfg.Dir, "upper"), filepath.Join(cfg.Dir, "work")).make
	if cfg.Private {
		base = func() error { return buildPrivate(root, cfg.Dir) }
	}
	for _, step := range []func() error{
		base,
		func() error { return buildRoot(root, cfg.Workspace, cfg.ReadOnly) },
		func() error { return enterRoot(root) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// overlay is a world's root: upper over the lower layers, nearest first.
func overlay(root string, lower []string, upper, work string) mount {
	return mount{"world", root, "overlay", unix.MS_NODEV | unix.MS_NOSUID, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s",
		strings.Join(lower, ":"), upper, work)}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}
