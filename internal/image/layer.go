package image

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/joystream-ai/joy/internal/image/squashfs"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// layer is the root file system as a layer, in a file of its own.
type layer struct {
	blob
	diffID v1.Hash // of the tar before it was packed
}

func (l *layer) close() {
	l.file.Close()
	os.Remove(l.file.Name()) // where it could not be removed while it was open
}

// layer makes the layer in dir. It loses its name at once, where the system allows that: nothing is left of it when joy
// is killed. The caller closes it.
func (e *exporter) layer(dir string) (l *layer, err error) {
	root, err := ordinary.Open(e.img.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	st, err := root.Stat()
	if err != nil {
		return nil, err
	}
	fs, err := squashfs.Open(root, st.Size())
	if err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(dir, "joy-layer-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(out.Name())
	l = &layer{blob: blob{file: out}}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	at := phase(e.tell, "making a layer of the root file system", 0)
	plain, packed := sha256.New(), sha256.New()
	size := &counter{}
	// The fastest packing: the same time again would save a tenth of the size, of a file that is unpacked once.
	zip, err := gzip.NewWriterLevel(io.MultiWriter(out, packed, size), gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	alive := writerFunc(func(p []byte) (int, error) {
		if err := e.ctx.Err(); err != nil {
			return 0, err
		}
		at.Done += int64(len(p))
		at.tell(at.Progress)
		return zip.Write(p)
	})
	if err = fs.WriteTar(io.MultiWriter(alive, plain)); err == nil {
		err = zip.Close()
	}
	if err != nil {
		return nil, err
	}
	l.diffID = named(plain)
	l.desc = v1.Descriptor{MediaType: types.OCILayer, Size: size.n, Digest: named(packed)}
	return l, nil
}

func named(h hash.Hash) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(h.Sum(nil))}
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
