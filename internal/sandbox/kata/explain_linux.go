package kata

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/containerd/errdefs"

	"github.com/joystream-ai/joy/internal/fault"
)

// unreachable says that containerd does not answer.
func unreachable(address string, err error) error {
	e := fault.Wrap(fault.Platform, err, "containerd does not answer at %s", address)
	e.Code = "JOY-NO-CONTAINERD"
	if errors.Is(err, fs.ErrPermission) {
		return e.WithHint("run joy as who may open the socket, which is root as a rule; joy doctor")
	}
	return e.WithHint("sudo systemctl start containerd, or name its socket in JOY_CONTAINERD; joy doctor")
}

// explain turns an error of containerd's into one that a person can act on.
func (p *Provider) explain(err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	text := err.Error()
	switch {
	case errdefs.IsUnavailable(err) || strings.Contains(text, "code = Unavailable"):
		return unreachable(p.address(), err)
	case strings.Contains(text, "containerd-shim-") && (strings.Contains(text, "file does not exist") || strings.Contains(text, "not found") || strings.Contains(text, "not installed")):
		e := fault.Wrap(fault.Platform, err, "the runtime %s is not installed", p.runtime())
		e.Code = "JOY-NO-RUNTIME"
		return e.WithHint("install Kata Containers as docs/kata.md describes; joy doctor")
	case strings.Contains(text, "no space left on device"):
		return fault.Wrap(fault.Platform, err, "containerd's disk is full").WithHint("df -h; %s snapshots ls", Ctr(p.address()))
	}
	return fault.Wrap(fault.Platform, err, "containerd").WithHint("joy doctor")
}
