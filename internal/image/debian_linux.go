package image

import (
	"archive/tar"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// packageList is where the root keeps the list of its packages while it is made.
const packageList = "/var/lib/joy-packages"

// debianRoot makes a root file system of Debian's minimum and what the recipe adds, with mmdebstrap, which needs no
// root: it gives the tree as a tar, with the owners and modes of its files, and that becomes the squashfs.
func (b *builder) debianRoot(ctx context.Context, a *archive, r recipe) (err error) {
	work, err := b.workDir()
	if err != nil {
		return err
	}
	defer func() {
		if werr := b.removeWork(context.WithoutCancel(ctx), b.stage); err == nil {
			err = werr
		}
	}()
	settings, err := hostSettings(ctx, b)
	if err != nil {
		return err
	}
	opts, list := filepath.Join(work, "apt.conf"), filepath.Join(work, "packages")
	if err := os.WriteFile(opts, []byte(settings), 0o644); err != nil {
		return fault.Wrap(fault.Platform, err, "store apt's settings")
	}
	var hooks []string
	if len(r.npm) > 0 || r.uv {
		over := filepath.Join(work, "over.tar")
		if err := b.overTree(ctx, r, over); err != nil {
			return err
		}
		hooks = append(hooks, fmt.Sprintf("tar-in %q /", over))
	}
	packed := filepath.Join(b.stage, "root.tar")
	phase(b.Progress, "installing Debian's minimum and "+r.summary, 0)
	start := time.Now().Truncate(time.Second)
	argv := append(b.mmdebstrap(r, opts, slices.Concat(hooks, r.hooks, rootHooks(list))), suite, "-", a.list)
	if err := b.debootstrap(ctx, argv, work, packed); err != nil {
		return err
	}
	found, err := surveyRoot(packed, start)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read the root mmdebstrap made")
	}
	b.programs = found.programs
	if err := b.readPackageList(list); err != nil {
		return err
	}
	return b.squash(ctx, packed, found.newest)
}

// overTree writes what a recipe has from elsewhere than Debian as one tar, to be laid over the root.
func (b *builder) overTree(ctx context.Context, r recipe, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "store what is not Debian's")
	}
	defer out.Close()
	tw := tar.NewWriter(out)
	for _, p := range r.npm {
		if err := b.npmTake(ctx, p, tw, filepath.Dir(file)); err != nil {
			return err
		}
	}
	if r.uv {
		if err := b.uvTake(ctx, pypiIndex, tw, filepath.Dir(file)); err != nil {
			return err
		}
	}
	if err = tw.Close(); err == nil {
		err = out.Close()
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "store what is not Debian's")
	}
	return nil
}

// mmdebstrap is the command with its options; suite, target and sources follow.
func (b *builder) mmdebstrap(r recipe, aptOptions string, hooks []string) []string {
	mode := "root"
	if os.Geteuid() != 0 {
		mode = "unshare"
	}
	argv := []string{
		"mmdebstrap", "--mode=" + mode, "--variant=minbase", "--format=tar", "--architectures=" + b.arch,
		"--include=" + strings.Join(r.packages, ","), "--aptopt=" + aptOptions,
	}
	for _, dir := range []string{"man", "locale", "info", "doc"} {
		argv = append(argv, "--dpkgopt=path-exclude=/usr/share/"+dir+"/*")
	}
	for _, dir := range r.without {
		argv = append(argv, "--dpkgopt=path-exclude="+dir+"/*")
	}
	argv = append(argv, "--dpkgopt=force-unsafe-io")                         // a build that is killed is thrown away: no file needs a sync
	argv = append(argv, "--dpkgopt=path-include=/usr/share/doc/*/copyright") // what the licences ask to keep
	for _, hook := range hooks {
		argv = append(argv, "--customize-hook="+hook)
	}
	return argv
}

// debootstrap writes the root as a tar. SOURCE_DATE_EPOCH is left unset: with it Python's compiled modules are made
// to hash their source at every import, and squash dates the files anyway. PYTHONHASHSEED orders the sets in them.
func (b *builder) debootstrap(ctx context.Context, argv []string, work, path string) error {
	out, err := os.Create(path)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "store the root")
	}
	err = b.run(ctx, tool{
		argv: argv, env: []string{"TMPDIR=" + work, "PYTHONHASHSEED=0"}, stdout: out, ownMounts: true,
		stderr: &stages{tell: b.Progress},
	})
	if cerr := out.Close(); err == nil && cerr != nil {
		err = fault.Wrap(fault.Platform, cerr, "store the root")
	}
	return err
}

// rootHooks run after the packages are installed; $1 is the root. They take the host's traces out (names, resolver,
// apt settings), add joy's places, and hand over what the index says about each package.
func rootHooks(list string) []string {
	const show = `chroot "$1" sh -c 'dpkg-query -W -f="\${Package}:\${Architecture}=\${Version}\n" | xargs apt-cache show' > "$1` + packageList + `"`
	return []string{
		show,
		fmt.Sprintf("download %s %q", packageList, list),
		`rm -f "$1` + packageList + `" "$1/etc/resolv.conf" "$1/etc/apt/apt.conf.d/99mmdebstrap" "$1/etc/dpkg/dpkg.cfg.d/99mmdebstrap"`,
		`printf 'joy\n' > "$1/etc/hostname"`,
		`printf '127.0.0.1 localhost joy\n::1 localhost\n' > "$1/etc/hosts"`,
		`mkdir -p "$1/workspace"`,
		`sed -i 's/^\([^:]*:[^:]*\):[0-9]*:/\1:19518:/' "$1/etc/shadow"`, // when passwords were set: any fixed day
		`rm -rf "$1"/var/log/* "$1"/var/cache/debconf/*-old`,
	}
}

func (b *builder) readPackageList(list string) error {
	text, err := ordinary.Read(list, maxIndex)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read the list of packages")
	}
	records := parseRecords(string(text))
	if len(records) == 0 {
		return fault.New(fault.Platform, "read the list of packages: it is empty")
	}
	for _, r := range records {
		b.packages = append(b.packages, r.pkg())
	}
	return nil
}
