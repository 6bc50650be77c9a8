package image

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// An OCI archive of joy's holds two manifests, https://github.com/opencontainers/image-spec/blob/main/image-layout.md:
//
//   - a container image whose only layer is the root file system as a tar, for containerd and what else runs images;
//   - an artifact with the files a VM boots from, byte for byte, of which Import makes the same image again. Its config
//     is the manifest of the image; its subject is the container image.
//
// A squashfs made again from the layer would be other bytes, and another image: hence both.
const (
	artifactType  = "application/vnd.joystream.joy.image.v1+json"
	fileMediaType = "application/vnd.joystream.joy.image.file.v1"
	layoutFile    = "oci-layout"
	layoutText    = `{"imageLayoutVersion":"1.0.0"}`
	indexFile     = "index.json"
	blobPrefix    = "blobs/sha256/"
)

// Labels of the container image.
const (
	labelDigest  = "ai.joystream.joy.image.digest"
	labelProfile = "ai.joystream.joy.image.profile"
	labelKernel  = "ai.joystream.joy.image.kernel"
	labelRules   = "ai.joystream.joy.image.rules"
)

// oci writes the archive.
func (e *exporter) oci(tempDir string) error {
	layer, err := e.layer(tempDir)
	if err != nil {
		return err
	}
	defer layer.close()
	var blobs []blob
	add := func(mediaType types.MediaType, v any) (v1.Descriptor, error) {
		text, err := json.Marshal(v)
		if err != nil {
			return v1.Descriptor{}, err
		}
		b := blob{text: text}
		b.desc.MediaType, b.desc.Size = mediaType, int64(len(text))
		b.desc.Digest, _, err = v1.SHA256(bytes.NewReader(text))
		blobs = append(blobs, b)
		return b.desc, err
	}
	config, err := add(types.OCIConfigJSON, e.config(layer.diffID))
	if err != nil {
		return err
	}
	image, err := add(types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: []v1.Descriptor{layer.desc},
	})
	if err != nil {
		return err
	}
	e.container = image.Digest.String()
	files, own, err := e.files()
	if err != nil {
		return err
	}
	blobs = append(blobs, own)
	artifact, err := add(types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: artifactType,
		Config: own.desc, Layers: descriptors(files), Subject: &image,
	})
	if err != nil {
		return err
	}
	named := image
	named.Platform = &v1.Platform{OS: "linux", Architecture: e.img.Manifest.Arch}
	tag := strings.TrimPrefix(e.img.Digest(), "sha256:")[:12]
	named.Annotations = map[string]string{
		"io.containerd.image.name":          "localhost/joy/" + e.img.Manifest.Profile + ":" + tag, // what ctr calls it
		"org.opencontainers.image.ref.name": tag,
	}
	artifact.ArtifactType = artifactType
	index, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{named, artifact},
	})
	if err != nil {
		return err
	}
	if err := e.bytes(layoutFile, []byte(layoutText)); err != nil {
		return err
	}
	if err := e.bytes(indexFile, index); err != nil {
		return err
	}
	return e.blobs(append(append(blobs, layer.blob), files...))
}

// blob is one blob of the archive: text, an open file, or the file at a path.
type blob struct {
	desc v1.Descriptor
	text []byte
	file *os.File
	path string
}

func descriptors(blobs []blob) []v1.Descriptor {
	out := make([]v1.Descriptor, len(blobs))
	for i := range blobs {
		out[i] = blobs[i].desc
	}
	return out
}

// files are the image's own files as blobs, and its manifest.
func (e *exporter) files() (files []blob, own blob, err error) {
	for _, f := range e.img.Manifest.Files {
		files = append(files, blob{
			path: filepath.Join(e.img.Dir, filepath.FromSlash(f.Name)),
			desc: v1.Descriptor{
				MediaType: fileMediaType, Size: f.Size, Digest: v1.Hash{Algorithm: "sha256", Hex: f.SHA256},
				Annotations: map[string]string{"org.opencontainers.image.title": f.Name},
			},
		})
	}
	if own.text, err = e.img.Manifest.encode(); err != nil {
		return nil, blob{}, err
	}
	own.desc.MediaType = artifactType
	own.desc.Digest, own.desc.Size, err = v1.SHA256(bytes.NewReader(own.text))
	return files, own, err
}

// blobs writes each blob once: two files of an image may have the same bytes.
func (e *exporter) blobs(all []blob) error {
	var total int64
	for _, b := range all {
		total += b.desc.Size
	}
	at := phase(e.tell, "writing the archive", total)
	written := map[v1.Hash]bool{}
	for _, b := range all {
		if written[b.desc.Digest] {
			continue
		}
		written[b.desc.Digest] = true
		name := blobPrefix + b.desc.Digest.Hex
		var err error
		switch {
		case b.file != nil:
			err = e.copy(at, name, io.NewSectionReader(b.file, 0, b.desc.Size), b.desc.Size)
		case b.path != "":
			err = e.copyFile(at, name, b.path, b.desc.Size)
		default:
			err = e.bytes(name, b.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// config is what a container of the image starts with: the surroundings of a step.
func (e *exporter) config(diffID v1.Hash) v1.ConfigFile {
	m := e.img.Manifest
	path := "/" + strings.Join(searchPath, ":/")
	return v1.ConfigFile{
		OS: "linux", Architecture: m.Arch,
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{diffID}},
		History: []v1.History{{CreatedBy: "joy image build --profile " + m.Profile}},
		Config: v1.Config{
			Cmd: []string{"/bin/sh"}, Env: []string{"PATH=" + path, "HOME=/root", "LANG=C.UTF-8", "TZ=UTC"}, WorkingDir: "/workspace",
			Labels: map[string]string{
				labelDigest: m.Digest, labelProfile: m.Profile, labelKernel: m.Kernel, labelRules: strconv.Itoa(m.Rules),
			},
		},
	}
}
