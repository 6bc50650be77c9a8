package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/queue"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
)

// The VM of a check is small. bootLimit is far beyond what a boot under emulation takes on a busy machine.
const (
	bootMemory = policy.Size(256 << 20)
	bootDisk   = policy.Size(64 << 20)
	bootLimit  = 3 * time.Minute
)

func boot(ctx context.Context, m Machine, q *queue.Queue) []Check {
	ctx, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	img, err := anyImage(m.CacheDir)
	if err != nil {
		return []Check{{"boot", Fail, err.Error(), hint(err)}}
	}
	release, err := image.Hold(img)
	if err != nil {
		return []Check{{"boot", Fail, err.Error(), hint(err)}}
	}
	defer release()
	leave, err := q.Enter(ctx, fmt.Sprintf("doctor-%d", os.Getpid()), queue.Need{Memory: int64(bootMemory), Disk: int64(bootDisk)}, nil)
	if err != nil {
		return []Check{{"boot", Fail, "no room for a VM: " + err.Error(), "joy gc"}}
	}
	defer leave()
	first, start := bootOnce(ctx, m, img, "any")
	checks := []Check{first}
	if start == "snapshot" {
		cold, _ := bootOnce(ctx, m, img, "cold")
		checks = append(checks, cold)
	}
	return checks
}

// anyImage is the image of a profile that is here; the smallest is enough.
func anyImage(cacheDir string) (image.Image, error) {
	var errs []error
	for _, profile := range image.Profiles {
		img, err := image.Latest(cacheDir, profile)
		if err == nil {
			return img, image.Verify(img)
		}
		errs = append(errs, err)
	}
	return image.Image{}, errors.Join(errs...)
}

// bootOnce boots a VM, has it execute a command, and destroys it. start is how it was started.
func bootOnce(ctx context.Context, m Machine, img image.Image, want string) (check Check, start string) {
	fail := func(what string, err error) (Check, string) {
		return Check{"boot-" + want, Fail, what + ": " + err.Error(), cmp.Or(hint(err), "joy doctor")}, ""
	}
	p := &microvm.Provider{CacheDir: m.CacheDir, Accel: m.Accel, Scratch: m.ScratchDir}
	begun := time.Now()
	sb, err := p.Create(ctx, sandbox.Spec{
		Run: "doctor", Image: img.Digest(), Isolation: "any", Start: want, CPUs: 1, Memory: bootMemory, Disk: bootDisk,
	})
	if err != nil {
		return fail("the VM does not boot", err)
	}
	up := time.Since(begun)
	err = try(ctx, sb)
	took := time.Since(begun)
	if derr := sb.Destroy(context.WithoutCancel(ctx)); derr != nil {
		return Check{"boot-" + want, Fail, "the VM is not destroyed: " + derr.Error(), "joy gc"}, ""
	}
	if err != nil {
		return fail("the VM boots and runs no command", err)
	}
	info := sb.Info()
	id, detail := "boot-"+info.Start, fmt.Sprintf("%s start in %.1f s, a command after %.1f s; %s (%s), confined by: %s",
		info.Start, up.Seconds(), took.Seconds(), info.Isolation, info.Accelerator, info.Confinement)
	if info.StartReason != "" {
		detail += "; not from a snapshot: " + info.StartReason
	}
	return Check{id, OK, detail, ""}, info.Start
}

// try executes a command in a world of the VM.
func try(ctx context.Context, sb sandbox.Sandbox) error {
	w, err := sb.Open(ctx, sandbox.WorldSpec{ID: "doctor", Env: map[string]string{"PATH": "/usr/bin:/bin"}})
	if err != nil {
		return err
	}
	var out, errs bytes.Buffer
	res, err := w.Run(ctx, sandbox.Command{Argv: []string{"echo", "joy"}}, &out, &errs)
	if err == nil && (res.ExitCode != 0 || out.String() != "joy\n") {
		err = fmt.Errorf("echo exited with status %d and printed %.80q", res.ExitCode, out.String()+errs.String())
	}
	return errors.Join(err, w.Close(ctx))
}
