package guest

// ground is what the worlds of a VM stand on. joy's own VM has all of it. In one that is somebody else's, joy-guest takes
// what it finds and says what is missing; the namespaces, the cgroup by which a step is killed and what restrict takes
// away are never missing.
type ground struct {
	hosted  bool     // the VM has an init, a clock and names of its own
	overlay bool     // else a world has the image read-only and some directories for itself
	limits  bool     // cgroup controllers: memory, processes and CPU of a step are bounded
	beside  bool     // the VM's other programs see the disk on which the worlds are
	quota   bool     // a step's share of the disk is bounded
	pids    int      // processes of one world
	disk    int64    // bytes that all worlds together have of it; 0: all of it
	missing []string // in words for the ledger

	device string // a block device for what worlds write, or ""
	shared bool   // the kernel is not the VM's own, and is left as it is
}

// ownGround is that of joy's own VM.
func ownGround() *ground { return &ground{overlay: true, limits: true, quota: true} }

func (g *ground) lacks(what string) { g.missing = append(g.missing, what) }
