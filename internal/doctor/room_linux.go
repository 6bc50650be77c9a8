package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/queue"
	"github.com/joystream-ai/joy/internal/state"
)

// memory says how many VMs of the usual size there is room for.
func memory(m Machine) Check {
	room, err := queue.Measure(m.ScratchDir)
	if err != nil {
		return Check{"memory", Fail, err.Error(), "ls -ld " + m.ScratchDir}
	}
	usual := policy.Default().Memory
	each := int64(usual) + queue.Overhead
	detail := fmt.Sprintf("%.1f GiB free of %.1f GiB: room for %d VMs of %s at once", gib(room.MemoryFree), gib(room.MemoryTotal), room.MemoryFree/each, usual)
	if m.MaxVMs > 0 {
		detail += fmt.Sprintf("; max_vms is %d", m.MaxVMs)
	}
	const fix = "ask for less in joy.yaml, policy: {memory: 512MiB}, and run joy build"
	switch {
	case room.MemoryTotal < each:
		return Check{"memory", Warn, detail + "; a plan that does not ask for less is refused", fix}
	case room.MemoryFree < each:
		return Check{"memory", Warn, detail + "; a VM may be killed for want of memory", fix}
	}
	return Check{"memory", OK, detail, ""}
}

func gib(n int64) float64 { return float64(n) / (1 << 30) }

// askLimit bounds the question whether VMs of dead runs live: one may be at a service that does not answer.
const askLimit = 5 * time.Second

// strays are runs of the user's index whose joy is gone.
func strays(ctx context.Context, m Machine) Check {
	lives, err := state.OpenIndex(m.StateDir).List()
	if err != nil {
		return Check{"strays", Warn, err.Error(), "joy gc"}
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	dead, vms, unknown := 0, 0, 0
	for _, live := range lives {
		if live.Alive() {
			continue
		}
		dead++
		for _, id := range live.VM {
			switch alive, err := m.VMAlive(ctx, id); {
			case err != nil:
				unknown++
			case alive:
				vms++
			}
		}
	}
	switch {
	case vms > 0:
		return Check{"strays", Warn, fmt.Sprintf("VMs that live on without their joy: %d", vms), "joy gc"}
	case unknown > 0:
		return Check{"strays", Warn, fmt.Sprintf("runs whose joy has died: %d; of VMs of which nobody can tell whether they live: %d", dead, unknown), "joy gc"}
	case dead > 0:
		return Check{"strays", Warn, fmt.Sprintf("runs whose joy has died: %d; no VM of them lives", dead), "joy gc"}
	}
	return Check{"strays", OK, fmt.Sprintf("nothing was left behind; runs that go on: %d", len(lives)), ""}
}

// wantedIDs is how many ids an image of Debian needs besides root's: its users, nobody (65534) among them.
const wantedIDs = 65536

// uids looks for what lets a user without root build images with files of several owners: newuidmap(1), and ids in
// subuid(5) and subgid(5) that belong to the user.
func uids(lookup func(string) (string, bool), subuid, subgid string) Check {
	if os.Geteuid() == 0 {
		return Check{"uid-mapping", OK, "root needs none", ""}
	}
	for _, program := range []string{"newuidmap", "newgidmap"} {
		if _, err := exec.LookPath(program); err != nil {
			return Check{"uid-mapping", Warn, program + " is not installed: images cannot be built without root", "sudo apt-get install uidmap"}
		}
	}
	name := strconv.Itoa(os.Geteuid())
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	} else if set, ok := lookup("USER"); ok {
		name = set
	}
	for _, file := range []string{subuid, subgid} {
		if n, err := granted(file, name, strconv.Itoa(os.Geteuid())); err != nil || n < wantedIDs {
			return Check{
				"uid-mapping", Warn, fmt.Sprintf("%s grants %d ids to %s, %d are needed: images cannot be built without root", file, n, name, wantedIDs),
				"sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 " + name,
			}
		}
	}
	return Check{"uid-mapping", OK, "ids for images are granted to " + name, ""}
}

// granted is the largest range of ids that the file gives to a user, by name or by id (subuid(5)).
func granted(file, name, id string) (most int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, 1<<20))
	for {
		line, err := r.ReadString('\n')
		parts := strings.Split(strings.TrimSpace(line), ":")
		if len(parts) == 3 && (parts[0] == name || parts[0] == id) {
			if n, err := strconv.ParseInt(parts[2], 10, 64); err == nil {
				most = max(most, n)
			}
		}
		if errors.Is(err, io.EOF) {
			return most, nil
		}
		if err != nil {
			return most, err
		}
	}
}
