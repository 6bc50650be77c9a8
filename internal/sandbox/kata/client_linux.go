package kata

import (
	"context"
	"fmt"
	"net"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	"github.com/opencontainers/go-digest"

	"github.com/joystream-ai/joy/internal/fault"
)

// store is a connection to containerd, in joy's namespace.
type store struct {
	*containerd.Client
	address string
}

// dial connects. That nobody listens shows at once, and not after the patience of a client that waits for a server.
func dial(address string) (*store, error) {
	conn, err := net.Dial("unix", address) //nolint:noctx // a socket of this machine: it answers or it does not
	if err != nil {
		return nil, unreachable(address, err)
	}
	conn.Close()
	c, err := containerd.New(address, containerd.WithDefaultNamespace(Namespace))
	if err != nil {
		return nil, unreachable(address, err)
	}
	return &store{c, address}, nil
}

// within is ctx in joy's namespace.
func within(ctx context.Context) context.Context { return namespaces.WithNamespace(ctx, Namespace) }

// findImage is the container image whose manifest has that digest. Its name is of no weight.
func (s *store) findImage(ctx context.Context, pin string) (containerd.Image, error) {
	if _, err := digest.Parse(pin); err != nil {
		return nil, fault.New(fault.Drift, "the lock pins no image for Kata: %q", pin).WithHint("joy build --update image")
	}
	found, err := s.ImageService().List(within(ctx), "target.digest=="+pin)
	if err != nil {
		return nil, fmt.Errorf("looking for the image: %w", err)
	}
	if len(found) == 0 {
		return nil, s.missing(ctx, pin)
	}
	return s.whole(ctx, found[0])
}

// whole is the image when everything it is made of is there and is unpacked.
func (s *store) whole(ctx context.Context, found images.Image) (containerd.Image, error) {
	img := containerd.NewImage(s.Client, found)
	if _, err := img.RootFS(within(ctx)); err != nil {
		if errdefs.IsNotFound(err) {
			return nil, s.missing(ctx, found.Target.Digest.String())
		}
		return nil, fmt.Errorf("reading the image: %w", err)
	}
	return img, nil
}

// missing says that an image is not there, and what is.
func (s *store) missing(ctx context.Context, pin string) error {
	all, err := s.ImageService().List(within(ctx))
	if err != nil {
		return fmt.Errorf("looking for the image: %w", err)
	}
	e := fault.New(fault.Platform, "the image that the lock pins for Kata, %s, is not in containerd's namespace %s", pin, Namespace)
	if len(all) > 0 {
		e = fault.New(fault.Platform, "the image that the lock pins for Kata, %s, is not in containerd's namespace %s; %s is %s",
			pin, Namespace, all[0].Name, all[0].Target.Digest)
	}
	e.Code = "JOY-NO-IMAGE"
	return e.WithHint("joy image export PROFILE --format oci -o image.oci.tar && %s images import image.oci.tar; if its digest differs, joy build --update image", Ctr(s.address))
}
