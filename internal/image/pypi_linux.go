package image

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// pypiIndex tells where the files of a release are and their digests, https://docs.pypi.org/api/json/. Their trust is
// pip's: what the index says over TLS.
const pypiIndex = "https://pypi.org/pypi"

// uvVersion is the uv of the full image. No other package source has it.
const uvVersion = "0.13.8"

// maxRelease caps what the index says about one release, in bytes.
const maxRelease = 4 << 20

// uvArch is how a wheel's name ends, by Debian's architecture; more than one platform may be named in it.
var uvArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// uvTime is the date of uv's files: a wheel has none that mean anything.
var uvTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// errNoIndex is in the tree of an error that means PyPI cannot be had here, not that it gave something bad.
var errNoIndex = errors.New("PyPI cannot be reached")

// uvTake adds uv to tw, or notes that it is left out where PyPI cannot be reached.
func (b *builder) uvTake(ctx context.Context, index string, tw *tar.Writer, dir string) error {
	phase(b.Progress, "asking PyPI for uv "+uvVersion, 0)
	address, integrity, err := b.uvWheel(ctx, index)
	if errors.Is(err, errNoIndex) && ctx.Err() == nil {
		b.leftOut = append(b.leftOut, LeftOut{Name: "uv", Reason: errNoIndex.Error()})
		phase(b.Progress, "uv is left out: PyPI cannot be reached from here", 0)
		return nil
	}
	if err != nil {
		return err
	}
	whl := filepath.Join(dir, "uv.whl")
	defer os.Remove(whl)
	sum, err := b.fetch(ctx, "uv "+uvVersion, address, whl, maxTarball, integrity)
	if err != nil {
		return err
	}
	if err := copyScripts(whl, tw); err != nil {
		return fault.Wrap(fault.Platform, err, "unpack uv %s", uvVersion)
	}
	b.packages = append(b.packages, Package{Name: "uv", Version: uvVersion, Arch: b.arch, SHA256: sum, From: "pypi"})
	return nil
}

// uvWheel asks the index for the wheel of this architecture.
func (b *builder) uvWheel(ctx context.Context, index string) (address, integrity string, err error) {
	var text bytes.Buffer
	if err := b.get(ctx, nil, index+"/uv/"+uvVersion+"/json", &text, maxRelease); err != nil {
		return "", "", errors.Join(errNoIndex, err)
	}
	var release struct {
		URLs []struct {
			Filename, URL string
			Digests       struct{ SHA256 string }
		}
	}
	if err := json.Unmarshal(text.Bytes(), &release); err != nil {
		return "", "", fault.Wrap(fault.Platform, err, "read what PyPI says of uv %s", uvVersion)
	}
	for _, f := range release.URLs {
		sum, err := hex.DecodeString(f.Digests.SHA256)
		if err == nil && len(sum) == 32 && strings.Contains(f.Filename, "-manylinux") && strings.Contains(f.Filename, "_"+uvArch[b.arch]+".") {
			return f.URL, "sha256-" + base64.StdEncoding.EncodeToString(sum), nil
		}
	}
	return "", "", fault.New(fault.Platform, "PyPI has no wheel of uv %s for %s", uvVersion, b.arch)
}

// copyScripts copies the programs of a wheel and their licences, https://packaging.python.org/specifications/binary-distribution-format/.
func copyScripts(whl string, tw *tar.Writer) error {
	z, err := zip.OpenReader(whl)
	if err != nil {
		return err
	}
	defer z.Close()
	copied := 0
	for _, f := range z.File {
		h := &tar.Header{Typeflag: tar.TypeReg, ModTime: uvTime, Mode: 0o644}
		switch base := path.Base(f.Name); {
		case f.Name == "uv-"+uvVersion+".data/scripts/"+base:
			h.Name, h.Mode = "usr/local/bin/"+base, 0o755
			copied++
		case strings.HasPrefix(base, "LICENSE"):
			h.Name = "usr/local/share/doc/uv/" + base
		default:
			continue
		}
		if f.UncompressedSize64 > maxUnpacked {
			return fmt.Errorf("%s is larger than %d bytes", f.Name, maxUnpacked)
		}
		h.Size = int64(f.UncompressedSize64)
		if err := copyEntry(tw, h, f.Open); err != nil {
			return err
		}
	}
	if copied == 0 {
		return errors.New("there is no program in it")
	}
	return nil
}

func copyEntry(tw *tar.Writer, h *tar.Header, open func() (io.ReadCloser, error)) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(tw, r) // the tar refuses more than the header says
	return err
}
