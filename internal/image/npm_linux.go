package image

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// npmRegistry is where npm's packages are. What comes from there is checked against the digests in this file.
const npmRegistry = "https://registry.npmjs.org"

// Limits on one npm package, in bytes: as downloaded and unpacked.
const (
	maxTarball  = 128 << 20
	maxUnpacked = 512 << 20
)

// npmPackage is one package of npm's registry, pinned by the SHA-512 that the registry publishes as its integrity,
// https://www.w3.org/TR/SRI/.
type npmPackage struct {
	name    string // %s is the architecture as Node calls it
	version string
	sha512  map[string]string        // base64, by Debian's architecture; "all" where one package serves every
	place   func(file string) string // where in the root a file of the package goes; "" = nowhere
	links   map[string]string        // symbolic links to make, with their targets
}

// nodePackage is Node's own binary: the long-term release line that is supported until April 2028.
var nodePackage = npmPackage{
	name: "node-linux-%s", version: "24.22.3",
	sha512: map[string]string{
		"amd64": "KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==",
		"arm64": "IZx0J52/1NDwAsY2iyWR9nlPIYuYviTWetjj8+ElvYQh2+XRhLfCfkbFEF/2O5vGI2hcUbyPNHV+nz342FbJXw==",
	},
	place: func(file string) string {
		switch file {
		case "bin/node":
			return "usr/local/bin/node"
		case "LICENSE":
			return "usr/local/share/doc/node/LICENSE"
		}
		return "" // headers: there is no compiler
	},
}

// npmItself is the npm of that release line. It has what it depends on inside.
var npmItself = npmPackage{
	name: "npm", version: "11.21.2",
	sha512: map[string]string{"all": "7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A=="},
	place: func(file string) string {
		if strings.HasPrefix(file, "docs/") || strings.HasPrefix(file, "man/") {
			return ""
		}
		return "usr/local/lib/node_modules/npm/" + file
	},
	links: map[string]string{
		"usr/local/bin/npm": "../lib/node_modules/npm/bin/npm-cli.js",
		"usr/local/bin/npx": "../lib/node_modules/npm/bin/npx-cli.js",
	},
}

// npmTake downloads one package to dir, copies what it places to tw and notes it as part of the image.
func (b *builder) npmTake(ctx context.Context, p npmPackage, tw *tar.Writer, dir string) error {
	name, sum := p.name, p.sha512["all"]
	if sum == "" {
		name, sum = fmt.Sprintf(p.name, nodeArch[b.arch]), p.sha512[b.arch]
	}
	tgz := filepath.Join(dir, name+".tgz")
	address := fmt.Sprintf("%s/%s/-/%s-%s.tgz", npmRegistry, name, name, p.version)
	got, err := b.fetch(ctx, name+" "+p.version, address, tgz, maxTarball, "sha512-"+sum)
	if err != nil {
		return err
	}
	defer os.Remove(tgz)
	if err := copyPlaced(tgz, p.place, tw); err != nil {
		return fault.Wrap(fault.Platform, err, "unpack %s %s", name, p.version)
	}
	for _, link := range slices.Sorted(maps.Keys(p.links)) {
		h := &tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: p.links[link], Mode: 0o777, ModTime: npmTime}
		if err := tw.WriteHeader(h); err != nil {
			return fault.Wrap(fault.Platform, err, "store what came from npm")
		}
	}
	b.packages = append(b.packages, Package{Name: name, Version: p.version, Arch: b.arch, SHA256: got, From: "npm"})
	return nil
}

// nodeArch is what Node calls an architecture.
var nodeArch = map[string]string{"amd64": "x64", "arm64": "arm64"}

// npmTime is the time npm itself gives the files of every package.
var npmTime = time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)

// copyPlaced copies the regular files of an npm package to the places they have in the root.
func copyPlaced(tgz string, place func(string) string, tw *tar.Writer) error {
	f, err := os.Open(tgz)
	if err != nil {
		return err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for tr := tar.NewReader(io.LimitReader(unzipped, maxUnpacked)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, file, _ := strings.Cut(h.Name, "/") // package/…
		if h.Typeflag != tar.TypeReg || path.Clean("/" + file)[1:] != file {
			continue
		}
		name := place(file)
		if name == "" {
			continue
		}
		mode := int64(0o644)
		if h.Mode&0o111 != 0 {
			mode = 0o755
		}
		err = tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: h.Size, ModTime: npmTime})
		if err == nil {
			_, err = io.CopyN(tw, tr, h.Size)
		}
		if err != nil {
			return err
		}
	}
}
