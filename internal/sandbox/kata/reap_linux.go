package kata

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/containerd/containerd/v2/core/snapshots"
)

// Alive reports whether anything of the VM that id names may still be there.
func (p *Provider) Alive(ctx context.Context, id string) (bool, error) {
	container, s, err := p.open(id)
	if err != nil {
		return true, err
	}
	defer s.Close()
	there, err := s.exists(ctx, container)
	if _, dirErr := os.Lstat(p.dir(container)); dirErr == nil {
		there = true
	}
	return there || p.at(s.address).leftovers(container) != nil, err
}

// Reap ends the VM that id names and removes what is left of it. A VM that is not there is no error.
func (p *Provider) Reap(ctx context.Context, id string) error {
	container, s, err := p.open(id)
	if err != nil {
		return err
	}
	defer s.Close()
	return p.at(s.address).end(ctx, s, container)
}

// open connects to the containerd that an id names.
func (p *Provider) open(id string) (container string, s *store, err error) {
	container, address, err := parseID(id)
	if err != nil {
		return "", nil, err
	}
	s, err = dial(address)
	return container, s, err
}

// at is the provider of another containerd.
func (p *Provider) at(address string) *Provider {
	q := *p
	q.Address = address
	return &q
}

// Orphan is a VM of this owner whose run is not living.
type Orphan struct {
	ID  string // as the index would name it
	Run string
}

// Orphans are what this owner's joys have left in containerd: containers, and leases and snapshots of such as were never
// made whole. Those of runs that live are left out, and so is everything of another owner.
func (p *Provider) Orphans(ctx context.Context, lives func(run string) bool) ([]Orphan, error) {
	s, err := dial(p.address())
	if err != nil {
		return nil, err
	}
	defer s.Close()
	found := map[string]string{} // container to run
	add := func(id string, labels map[string]string) {
		if run := labels[labelRun]; labels[labelOwner] == p.Owner && !lives(run) {
			found[id] = run
		}
	}
	ctx = within(ctx)
	all, err := s.ContainerService().List(ctx)
	if err != nil {
		return nil, p.explain(fmt.Errorf("listing containers: %w", err))
	}
	for _, c := range all {
		add(c.ID, c.Labels)
	}
	held, err := s.LeasesService().List(ctx)
	if err != nil {
		return nil, p.explain(fmt.Errorf("listing leases: %w", err))
	}
	for _, l := range held {
		add(l.ID, l.Labels)
	}
	err = s.SnapshotService(p.Snapshotter).Walk(ctx, func(_ context.Context, info snapshots.Info) error {
		add(info.Name, info.Labels)
		return nil
	})
	if err != nil {
		return nil, p.explain(fmt.Errorf("listing snapshots: %w", err))
	}
	var out []Orphan
	for _, id := range slices.Sorted(maps.Keys(found)) {
		out = append(out, Orphan{indexID(id, p.address()), found[id]})
	}
	return out, nil
}
