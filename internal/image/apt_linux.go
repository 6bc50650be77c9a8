package image

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

// suite is the Debian release images are made of, on whatever the host runs: the same recipe gives the same image on
// Debian, Ubuntu and a CI runner.
const suite = "bookworm"

// maxIndex caps what apt may answer to one question, in bytes.
const maxIndex = 4 << 20

// archive asks Debian's archive through apt with a state of its own in the cache: the host's apt is read, never
// changed, and no root is needed.
type archive struct {
	b    *builder
	dir  string // apt's state
	list string // sources.list
	conf string // what APT_CONFIG names
}

// openArchive chooses the sources: the mirror; else Debian's archives as the host's apt has them, in whichever form
// they are written there; else deb.debian.org.
func openArchive(ctx context.Context, b *builder) (*archive, error) {
	a := &archive{b: b, dir: filepath.Join(b.CacheDir, "apt")}
	a.list, a.conf = filepath.Join(a.dir, "sources.list"), filepath.Join(a.dir, "apt.conf")
	for _, sub := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(a.dir, sub), 0o755); err != nil {
			return nil, fault.Wrap(fault.Platform, err, "make the package index's directory")
		}
	}
	sources, err := a.sources(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := hostSettings(ctx, b)
	if err != nil {
		return nil, err
	}
	conf := fmt.Sprintf(`Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::sourcelist %q;
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State::lists %q;
Dir::State::status "/dev/null";
Dir::Cache %q;
Acquire::Languages "none";
APT::Sandbox::User "root";
APT::Architecture %q;
APT::Architectures { %q; };
%s`, a.list, filepath.Join(a.dir, "lists"), filepath.Join(a.dir, "cache"), b.arch, b.arch, settings)
	for path, text := range map[string]string{a.list: sources, a.conf: conf} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, fault.Wrap(fault.Platform, err, "write apt's configuration")
		}
	}
	return a, nil
}

func (a *archive) sources(ctx context.Context) (string, error) {
	if a.b.sources != "" {
		return a.b.sources, nil
	}
	if m := a.b.Mirror; m != "" {
		if !mirrorURL.MatchString(m) {
			return "", fault.New(fault.Input, "bad mirror %q", m).WithHint("--mirror https://deb.debian.org/debian")
		}
		return mirrorSources(m), nil
	}
	out, err := a.b.output(ctx, maxIndex, tool{argv: []string{
		"apt-get", "indextargets", "--format",
		"$(ORIGIN) $(CODENAME) $(COMPONENT) $(SITE) $(RELEASE)", "Created-By: Packages",
	}})
	if err != nil {
		return "", err
	}
	var lines string
	for _, l := range strings.Split(string(out), "\n") {
		f := strings.Fields(l)
		if len(f) != 5 || f[0] != "Debian" || f[2] != "main" || !mirrorURL.MatchString(f[3]) {
			continue
		}
		switch f[1] {
		case suite, suite + "-updates", suite + "-security":
			if next := sourceLine(f[3], f[4], ""); !strings.Contains(lines, next) {
				lines += next
			}
		}
	}
	if lines == "" {
		const debian = "http://deb.debian.org/debian" // http: what is fetched is checked against Debian's key
		lines = sourceLine(debian, suite, "") + sourceLine(debian, suite+"-updates", "") +
			sourceLine(debian+"-security", suite+"-security", "")
	}
	return lines, nil
}

// sourceLine is one line of a sources.list, sources.list(5).
func sourceLine(url, suite, options string) string {
	return fmt.Sprintf("deb [signed-by=%s%s] %s %s main\n", debianArchiveKey, options, url, suite)
}

// snapshot is the address of a past state of the archive, https://snapshot.debian.org.
var snapshot = regexp.MustCompile(`^(.*/archive/)debian(/\d{8}T\d{6}Z)/?$`)

// mirrorSources are the archives of a mirror. Who names a snapshot asks for an index that has expired, and a snapshot of
// the security archive is beside it.
func mirrorSources(mirror string) string {
	at := snapshot.FindStringSubmatch(mirror)
	if at == nil {
		return sourceLine(mirror, suite, "") + sourceLine(mirror, suite+"-updates", "")
	}
	const expired = " check-valid-until=no"
	return sourceLine(mirror, suite, expired) + sourceLine(mirror, suite+"-updates", expired) +
		sourceLine(at[1]+"debian-security"+at[2], suite+"-security", expired)
}

// mirrorURL is what may stand in a sources.list line without changing its meaning.
var mirrorURL = regexp.MustCompile(`^(https?|file)://?[A-Za-z0-9._~:/@%+-]+$`)

// hostSetting is what carries over from the host's apt: how to reach an archive, nothing of what to do with it.
var hostSetting = regexp.MustCompile(`(?m)^Acquire::(http|https|Retries|ForceIPv4|ForceIPv6|Check-Valid-Until|Check-Date)\b.*";$`)

func hostSettings(ctx context.Context, b *builder) (string, error) {
	out, err := b.output(ctx, maxIndex, tool{argv: []string{"apt-config", "dump"}})
	if err != nil {
		return "", err
	}
	return string(bytes.Join(hostSetting.FindAll(out, -1), []byte("\n"))) + "\n", nil
}

func (a *archive) env() []string { return []string{"APT_CONFIG=" + a.conf} }

// update fetches the package index, or what changed of it.
func (a *archive) update(ctx context.Context) error {
	err := a.b.run(ctx, tool{argv: []string{"apt-get", "-q", "-o", "APT::Update::Error-Mode=any", "update"}, env: a.env()})
	if err != nil && ctx.Err() == nil {
		return fault.Wrap(fault.Platform, err, "read Debian's package index").
			WithHint("check the network and proxy, or name a mirror that can be reached: joy image build --mirror URL")
	}
	return err
}
