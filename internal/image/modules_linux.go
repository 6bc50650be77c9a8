package image

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"
)

// wantedModules is what a VM needs before and for its file systems, in this order; what they depend on is found in
// themselves. Everything else (ext4, tmpfs, PCI, ACPI) is built into Debian's kernel.
var wantedModules = []string{
	"virtio_pci", "virtio_console", "virtio_blk", "squashfs", "overlay", "quota_v2",
}

// moduleName is the kernel's own form of a module's name.
func moduleName(s string) string { return strings.ReplaceAll(s, "-", "_") }

// moduleDepends reads which modules must be loaded before this one from the module itself: the package has no
// modules.dep, that is written when a kernel is installed. The section is a list of key=value, each ended by NUL:
// https://docs.kernel.org/kbuild/modules.html and scripts/mod/modpost.c.
func moduleDepends(ko []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(ko))
	if err != nil {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	sec := f.Section(".modinfo")
	if sec == nil {
		return nil, fmt.Errorf("read the module: no .modinfo section")
	}
	info, err := sec.Data()
	if err != nil {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	for _, kv := range strings.Split(string(info), "\x00") {
		list, ok := strings.CutPrefix(kv, "depends=")
		if !ok {
			continue
		}
		var deps []string
		for _, d := range strings.Split(list, ",") {
			if d != "" {
				deps = append(deps, moduleName(d))
			}
		}
		return deps, nil
	}
	return nil, fmt.Errorf("read the module: .modinfo says nothing of its dependencies")
}

// loadOrder puts want and everything it depends on in an order in which each module finds its dependencies loaded.
// deps has an entry for every module of the kernel that is known. missing lists what is needed and has none.
func loadOrder(want []string, deps map[string][]string) (order, missing []string, err error) {
	const entered, done = 1, 2
	state := map[string]int{}
	var visit func(name string) error
	visit = func(name string) error {
		switch state[name] {
		case entered:
			return fmt.Errorf("order the modules: %s depends on itself", name)
		case done:
			return nil
		}
		state[name] = entered
		d, known := deps[name]
		if !known {
			missing = append(missing, name)
		}
		for _, dep := range d {
			if err := visit(dep); err != nil {
				return err
			}
		}
		state[name] = done
		if known {
			order = append(order, name)
		}
		return nil
	}
	for _, name := range want {
		if err := visit(name); err != nil {
			return nil, nil, err
		}
	}
	return order, missing, nil
}

// level is how many modules deep a module's dependencies go. Modules of one level need not wait for one another. The
// dependencies have no cycle: loadOrder has seen to that.
func level(name string, deps map[string][]string) int {
	deepest := -1
	for _, d := range deps[name] {
		deepest = max(deepest, level(d, deps))
	}
	return deepest + 1
}
