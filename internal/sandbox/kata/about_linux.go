package kata

import (
	"context"
	"fmt"
	"time"
)

// About asks containerd who it is and which images it has for joy.
func (p *Provider) About(ctx context.Context) (About, error) {
	s, err := dial(p.address())
	if err != nil {
		return About{}, err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(within(ctx), 5*time.Second)
	defer cancel()
	v, err := s.Version(ctx)
	if err != nil {
		return About{}, p.explain(fmt.Errorf("asking containerd for its version: %w", err))
	}
	all, err := s.ImageService().List(ctx)
	if err != nil {
		return About{}, p.explain(fmt.Errorf("listing images: %w", err))
	}
	out := About{Version: v.Version}
	for _, i := range all {
		out.Images = append(out.Images, Image{i.Name, i.Target.Digest.String()})
	}
	return out, nil
}
