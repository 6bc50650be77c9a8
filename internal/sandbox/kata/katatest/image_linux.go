package katatest

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/opencontainers/go-digest"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
)

// Import takes the container image out of what joy image export --format oci writes of an image, and gives the digest of
// its manifest, which a lock pins.
func (c *Containerd) Import(t testing.TB, img image.Image) string {
	t.Helper()
	client, err := c.Client()
	require.NoError(t, err)
	defer client.Close()
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(image.Export(t.Context(), img, w, image.ExportOptions{Format: image.FormatOCI, TempDir: c.Dir}))
	}()
	found, err := client.Import(t.Context(), r)
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found[0].Target.Digest.String()
}

// WithoutImages takes the name from every image, so that containerd has none, until it is called off.
func (c *Containerd) WithoutImages(t testing.TB) (back func()) {
	t.Helper()
	return c.rename(t, func(*images.Image) bool { return false })
}

// WithOther has each image's name mean another image, with another digest, until it is called off.
func (c *Containerd) WithOther(t testing.TB) (back func()) {
	t.Helper()
	return c.rename(t, func(img *images.Image) bool {
		c.alter(t, img)
		return true
	})
}

// rename puts each image's record away and, when change says so, the changed one in its place.
func (c *Containerd) rename(t testing.TB, change func(*images.Image) bool) (back func()) {
	t.Helper()
	client, err := c.Client()
	require.NoError(t, err)
	defer client.Close()
	list := client.ImageService()
	were, err := list.List(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, were)
	// Nothing is collected meanwhile, though no record names it.
	lease, err := client.LeasesService().Create(t.Context(), leases.WithRandomID(), leases.WithExpiration(time.Hour))
	require.NoError(t, err)
	for _, img := range were {
		held := leases.Resource{ID: img.Target.Digest.String(), Type: "content"}
		require.NoError(t, client.LeasesService().AddResource(t.Context(), lease, held))
		changed := img
		stays := change(&changed)
		require.NoError(t, list.Delete(t.Context(), img.Name))
		if stays {
			_, err := list.Create(t.Context(), changed)
			require.NoError(t, err)
		}
	}
	return func() {
		client, err := c.Client()
		require.NoError(t, err)
		defer client.Close()
		for _, img := range were {
			_ = client.ImageService().Delete(t.Context(), img.Name) // where another has its name
			_, err := client.ImageService().Create(t.Context(), img)
			require.NoError(t, err)
		}
		require.NoError(t, client.LeasesService().Delete(t.Context(), lease))
	}
}

// alter has an image be one of the same layers whose manifest says one thing more.
func (c *Containerd) alter(t testing.TB, img *images.Image) {
	t.Helper()
	client, err := c.Client()
	require.NoError(t, err)
	defer client.Close()
	store := client.ContentStore()
	info, err := store.Info(t.Context(), img.Target.Digest)
	require.NoError(t, err)
	body, err := content.ReadBlob(t.Context(), store, img.Target)
	require.NoError(t, err)
	var manifest map[string]any
	require.NoError(t, json.Unmarshal(body, &manifest))
	manifest["annotations"] = map[string]string{"org.opencontainers.image.description": "another"}
	body, err = json.Marshal(manifest)
	require.NoError(t, err)
	img.Target.Digest, img.Target.Size = digest.FromBytes(body), int64(len(body))
	require.NoError(t, content.WriteBlob(t.Context(), store, img.Target.Digest.String(), bytes.NewReader(body), img.Target, content.WithLabels(info.Labels)))
}
