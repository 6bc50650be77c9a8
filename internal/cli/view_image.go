package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/term"
)

// imageJSON is one image in a document. Size is in bytes.
type imageJSON struct {
	Schema  string `json:"schema,omitempty"` // joy.image-built/1 when it is the document
	Digest  string `json:"digest"`
	Profile string `json:"profile"`
	Arch    string `json:"arch"`
	Kernel  string `json:"kernel"`
	Size    int64  `json:"size"`
	Current bool   `json:"current"` // what its profile means on this machine
	Dir     string `json:"dir"`
}

func imageJSONOf(img image.Image, current bool) imageJSON {
	m := img.Manifest
	return imageJSON{"joy.image-built/1", m.Digest, m.Profile, m.Arch, m.Kernel, img.Size(), current, img.Dir}
}

// printImages prints the images and, as part of the same answer, those that are damaged.
func (a *app) printImages(images []image.Image, damaged []*fault.Error) error {
	list := make([]imageJSON, 0, len(images))
	for _, img := range images {
		latest, err := image.Latest(a.cfg.Dirs.Cache, img.Manifest.Profile)
		j := imageJSONOf(img, err == nil && latest.Digest() == img.Digest())
		j.Schema = ""
		list = append(list, j)
	}
	if a.json {
		errs := make([]errorJSON, 0, len(damaged))
		for _, e := range damaged {
			errs = append(errs, errorJSONOf(e))
		}
		return a.printJSON(struct {
			Schema  string      `json:"schema"`
			Images  []imageJSON `json:"images"`
			Damaged []errorJSON `json:"damaged"`
		}{"joy.image-list/1", list, errs})
	}
	for _, e := range damaged {
		a.reportText(e)
	}
	if len(list) == 0 && len(damaged) == 0 {
		a.say("no images; next: joy image build")
		return nil
	}
	t := a.out.newTable("PROFILE", "DIGEST", "ARCH", "KERNEL", "SIZE", "")
	for _, i := range list {
		mark := cell{}
		if i.Current {
			mark = cell{text: "current", style: &a.out.good}
		}
		t.row(append(plain(i.Profile, i.Digest, i.Arch, i.Kernel, term.Size(i.Size)), mark)...)
	}
	return t.print()
}

func (a *app) printImage(img image.Image) error {
	m := img.Manifest
	_, err := fmt.Fprintf(a.out, "%s %s\n%s, kernel %s, rules %d, %s\n%s\n\n",
		m.Profile, m.Digest, m.Arch, m.Kernel, m.Rules, term.Size(img.Size()), img.Dir)
	if err != nil {
		return err
	}
	files := a.out.newTable("FILE", "SIZE", "SHA256")
	for _, f := range m.Files {
		files.row(plain(f.Name, strconv.FormatInt(f.Size, 10), f.SHA256)...)
	}
	if err := files.print(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.out); err != nil {
		return err
	}
	packages := a.out.newTable("PACKAGE", "VERSION", "ARCH", "FROM", "SHA256")
	for _, p := range m.Packages {
		from := p.From
		if from == "" {
			from = "debian"
		}
		packages.row(plain(p.Name, p.Version, p.Arch, from, p.SHA256)...)
	}
	if err := packages.print(); err != nil {
		return err
	}
	for _, l := range m.LeftOut {
		if _, err := fmt.Fprintf(a.out, "\nleft out: %s (%s)\n", l.Name, l.Reason); err != nil {
			return err
		}
	}
	if len(m.Programs) == 0 {
		return nil
	}
	_, err = fmt.Fprintf(a.out, "\n%d PROGRAMS\n%s\n", len(m.Programs), wrapNames(m.Programs, a.out.width))
	return err
}

// wrapNames fills lines of a width with names, none broken.
func wrapNames(names []string, width int) string {
	var b strings.Builder
	at := 0
	for _, name := range names {
		switch {
		case at == 0:
		case at+1+len(name) > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(name)
		at += len(name)
	}
	return b.String()
}
