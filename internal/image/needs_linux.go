package image

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

// debianArchiveKey checks the signature of Debian's package index.
const debianArchiveKey = "/usr/share/keyrings/debian-archive-keyring.gpg"

// needed says what building takes and which Debian package brings it, in the order in which a person should read it.
var needed = []struct {
	name, pkg string
	debian    bool // for images made by mmdebstrap only
	user      bool // for who is not root only
}{
	{name: "apt-get", pkg: "apt"},
	{name: "dpkg-deb", pkg: "dpkg"},
	{name: "mksquashfs", pkg: "squashfs-tools"},
	{name: debianArchiveKey, pkg: "debian-archive-keyring"},
	{name: "mmdebstrap", pkg: "mmdebstrap", debian: true},
	{name: "newuidmap", pkg: "uidmap", debian: true, user: true},
}

// Needs checks that what building a profile takes is installed. The error names what is missing, its hint the command
// that installs it. lookup is the environment, for PATH; nil is the process's.
func Needs(profile string, lookup func(key string) (string, bool)) error {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	path, _ := lookup("PATH")
	var names, pkgs []string
	for _, n := range needed {
		if (n.debian && profile == "tiny") || (n.user && os.Geteuid() == 0) || lookPath(n.name, path) != "" {
			continue
		}
		names, pkgs = append(names, n.name), append(pkgs, n.pkg)
	}
	if len(names) == 0 {
		return nil
	}
	return fault.New(fault.Platform, "building image %s needs %s", profile, strings.Join(names, ", ")).
		WithHint("sudo apt-get install %s", strings.Join(pkgs, " "))
}

// lookPath finds a tool on path, or a file by its absolute name; "" when it is not there.
func lookPath(name, path string) string {
	if filepath.IsAbs(name) {
		if _, err := os.Stat(name); err != nil {
			return ""
		}
		return name
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if st, err := os.Stat(file); filepath.IsAbs(dir) && err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// needSpace is what a build may use at its peak, in bytes: in the cache (the root as a tar and as it is packed) and in
// the temporary directory (the root as a tree and the packages it comes from).
var needSpace = map[string]struct{ cache, temp uint64 }{
	"tiny": {256 << 20, 0},
	"base": {768 << 20, 768 << 20},
	"full": {2560 << 20, 2560 << 20},
}

// prepare checks what a build needs before it downloads anything.
func (b *builder) prepare() error {
	if err := Needs(b.Profile, b.LookupEnv); err != nil {
		return err
	}
	need := needSpace[b.Profile]
	return checkSpace("building image "+b.Profile, []spaceNeed{{b.CacheDir, need.cache}, {b.tempDir(), need.temp}})
}

// getenv reads the build's environment.
func (b *builder) getenv(key string) string {
	v, _ := b.LookupEnv(key)
	return v
}

func (b *builder) tempDir() string {
	if dir := b.getenv("TMPDIR"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return "/tmp"
}

// look finds a tool on the build's PATH.
func (b *builder) look(tool string) (string, error) {
	if file := lookPath(tool, b.getenv("PATH")); file != "" {
		return file, nil
	}
	return "", fault.New(fault.Platform, "%s is not on PATH", tool)
}
