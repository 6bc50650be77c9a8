package image

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

// maxKernel caps the kernel, in bytes.
const maxKernel = 256 << 20

// kernelPackage is what is taken out of Debian's kernel package.
type kernelPackage struct {
	release string
	kernel  []byte
	modules map[string][]byte // by name, uncompressed
	deps    map[string][]string
	builtin map[string]bool
}

// kernel downloads Debian's cloud kernel and puts the kernel and its modules into the stage. Nothing is installed.
func (b *builder) kernel(ctx context.Context, a *archive) error {
	meta, err := a.show(ctx, "linux-image-cloud-"+b.arch)
	if err != nil {
		return err
	}
	name := ""
	for _, dep := range strings.Split(meta["Depends"], ",") {
		if f := strings.Fields(dep); len(f) > 0 && strings.HasPrefix(f[0], "linux-image-") {
			name = f[0]
		}
	}
	if name == "" {
		return fault.New(fault.Platform, "package %s depends on no kernel: %q", meta["Package"], meta["Depends"])
	}
	rec, err := a.show(ctx, name)
	if err != nil {
		return err
	}
	deb, err := a.download(ctx, rec)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(deb))
	phase(b.Progress, "taking the kernel and its modules", 0)
	k, order, err := b.readKernel(ctx, deb)
	if err != nil {
		return err
	}
	b.release = k.release
	return b.stageKernel(k, order)
}

// readKernel reads the package until every module that is needed is there. One pass is enough unless a wanted module
// has come to depend on one that is not itself wanted.
func (b *builder) readKernel(ctx context.Context, deb string) (*kernelPackage, []string, error) {
	want := map[string]bool{}
	for _, m := range append([]string{"virtio", "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev"}, wantedModules...) {
		want[m] = true
	}
	for {
		k := &kernelPackage{modules: map[string][]byte{}, deps: map[string][]string{}, builtin: map[string]bool{}}
		err := b.eachFile(ctx, deb, func(h *tar.Header, r io.Reader) error { return b.take(ctx, k, want, h.Name, r) })
		if err != nil {
			return nil, nil, err
		}
		if k.kernel == nil {
			return nil, nil, fault.New(fault.Platform, "%s has no boot/vmlinuz", filepath.Base(deb))
		}
		order, missing, err := loadOrder(wantedModules, k.deps)
		if err != nil {
			return nil, nil, err
		}
		more := false
		for _, m := range missing {
			switch {
			case k.builtin[m]:
			case want[m]:
				return nil, nil, fault.New(fault.Platform, "%s has no module %s", filepath.Base(deb), m)
			default:
				want[m], more = true, true
			}
		}
		if !more {
			return k, order, nil
		}
	}
}

// take keeps one file of the package if it is the kernel, its list of built-in modules or a wanted module.
func (b *builder) take(ctx context.Context, k *kernelPackage, want map[string]bool, name string, r io.Reader) error {
	base := path.Base(name)
	if release, ok := strings.CutPrefix(name, "boot/vmlinuz-"); ok {
		var err error
		k.release = release
		k.kernel, err = readAll(r, maxKernel)
		return err
	}
	if !strings.HasPrefix(strings.TrimPrefix(name, "usr/"), "lib/modules/") {
		return nil
	}
	if base == "modules.builtin" {
		text, err := readAll(r, maxIndex)
		for _, line := range strings.Fields(string(text)) {
			k.builtin[moduleName(strings.TrimSuffix(path.Base(line), ".ko"))] = true
		}
		return err
	}
	stem, packing, ok := strings.Cut(base, ".ko")
	mod := moduleName(stem)
	if !ok || !want[mod] {
		return nil
	}
	ko, err := readAll(r, maxModule)
	if err == nil {
		ko, err = b.unpackModule(ctx, ko, packing)
	}
	if err == nil {
		k.deps[mod], err = moduleDepends(ko)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	k.modules[mod] = ko
	return nil
}

// unpackModule gives the plain module: Debian 12 packs none, later releases use xz.
func (b *builder) unpackModule(ctx context.Context, ko []byte, packing string) ([]byte, error) {
	var argv []string
	switch packing {
	case "":
		return ko, nil
	case ".xz":
		argv = []string{"xz", "-dc"}
	case ".zst":
		argv = []string{"zstd", "-dc"}
	default:
		return nil, fmt.Errorf("unknown packing %q", packing)
	}
	if _, err := b.look(argv[0]); err != nil {
		return nil, fault.New(fault.Platform, "the module is packed and %s is not installed", argv[0]).
			WithHint("sudo apt-get install xz-utils zstd")
	}
	return b.output(ctx, maxModule, tool{argv: argv, stdin: bytes.NewReader(ko)})
}

func (b *builder) stageKernel(k *kernelPackage, order []string) error {
	err := os.MkdirAll(filepath.Join(b.stage, "modules"), 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(b.stage, KernelFile), k.kernel, 0o644)
	}
	for _, m := range order {
		if err != nil {
			break
		}
		err = os.WriteFile(filepath.Join(b.stage, "modules", fmt.Sprintf("%02d-%s.ko", level(m, k.deps), m)), k.modules[m], 0o644)
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "store the kernel")
	}
	return nil
}

// readAll reads r whole, up to limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("larger than %d bytes", limit)
	}
	return b, err
}
