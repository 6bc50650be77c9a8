package image

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

// record is what the index says about one package, by field name.
type record map[string]string

// show gives the candidate of a package.
func (a *archive) show(ctx context.Context, name string) (record, error) {
	out, err := a.b.output(ctx, maxIndex, tool{argv: []string{"apt-cache", "show", "--no-all-versions", name}, env: a.env()})
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "find package %s", name)
	}
	records := parseRecords(string(out))
	if len(records) == 0 || records[0]["Package"] != name {
		return nil, fault.New(fault.Platform, "the archive has no package %s for %s", name, a.b.arch)
	}
	return records[0], nil
}

// parseRecords reads deb822 paragraphs; continuation lines are left out. The form: deb822(5).
func parseRecords(text string) []record {
	var out []record
	for _, par := range strings.Split(text, "\n\n") {
		r := record{}
		for _, line := range strings.Split(par, "\n") {
			if k, v, ok := strings.Cut(line, ":"); ok && k != "" && !strings.HasPrefix(line, " ") {
				r[k] = strings.TrimSpace(v)
			}
		}
		if r["Package"] != "" {
			out = append(out, r)
		}
	}
	return out
}

func (r record) pkg() Package {
	return Package{Name: r["Package"], Version: r["Version"], Arch: r["Architecture"], SHA256: r["SHA256"]}
}

// download fetches one package, checked by apt against the signed index, into the stage and notes it as part of the
// image. The caller removes the file.
func (a *archive) download(ctx context.Context, r record) (string, error) {
	dir, err := os.MkdirTemp(a.b.stage, "deb-")
	if err != nil {
		return "", fault.Wrap(fault.Platform, err, "make a directory to download to")
	}
	p := r.pkg()
	phase(a.b.Progress, "downloading "+p.Name+" "+p.Version, 0)
	err = a.b.run(ctx, tool{argv: []string{"apt-get", "-q", "download", p.Name + "=" + p.Version}, env: a.env(), dir: dir})
	if err != nil {
		return "", fault.Wrap(fault.Platform, err, "download %s", p.Name)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(found) != 1 {
		return "", fault.New(fault.Platform, "download %s: apt left %d files", p.Name, len(found))
	}
	sum, _, err := sumFile(found[0])
	if err != nil {
		return "", fault.Wrap(fault.Platform, err, "download %s", p.Name)
	}
	if p.SHA256 != "" && p.SHA256 != sum {
		return "", fault.New(fault.Platform, "download %s: sha256 is %s, the index says %s", p.Name, sum, p.SHA256)
	}
	p.SHA256 = sum
	a.b.packages = append(a.b.packages, p)
	return found[0], nil
}

// eachFile walks the regular files of a .deb in its own order. h.Name has neither a leading ./ nor a slash.
func (b *builder) eachFile(ctx context.Context, deb string, visit func(h *tar.Header, r io.Reader) error) error {
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := b.run(ctx, tool{argv: []string{"dpkg-deb", "--fsys-tarfile", deb}, stdout: pw})
		pw.CloseWithError(err) // nil is read as the end
		done <- err
	}()
	err := walkTar(pr, visit)
	if err == nil {
		_, err = io.Copy(io.Discard, pr) // a tar ends in padding; dpkg-deb must be able to write it
	}
	pr.CloseWithError(err)
	if runErr := <-done; err == nil {
		err = runErr
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "unpack %s", filepath.Base(deb))
	}
	return nil
}

func walkTar(r io.Reader, visit func(*tar.Header, io.Reader) error) error {
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		h.Name = strings.TrimPrefix(h.Name, "./")
		if err := visit(h, tr); err != nil {
			return err
		}
	}
}
