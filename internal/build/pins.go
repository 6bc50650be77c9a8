package build

import (
	"strings"

	"github.com/joystream-ai/joy/internal/plan"
)

// image keeps the outside pins of the old plan as long as they are of the same profile and template, and fills what is
// left from the images of this machine.
func (b *builder) image() error {
	i := &b.plan.Image
	i.E2B.Template = b.spec.E2BTemplate
	if strings.HasPrefix(b.spec.Image.Value, "sha256:") {
		pin := b.spec.Image.Value
		i.Microvm = plan.Pins{AMD64: &pin, ARM64: &pin}
	} else {
		i.Profile = b.spec.Image.Value
	}
	if old := b.o.Old; old != nil {
		if old.Image.Profile == i.Profile {
			i.Kata = old.Image.Kata
			if i.Profile != "" {
				i.Microvm = old.Image.Microvm
			}
		}
		if old.Image.E2B.Template == i.E2B.Template {
			i.E2B.Build = old.Image.E2B.Build
		}
	}
	if i.E2B.Template != "" && i.E2B.Build == "" && b.o.Templates != nil {
		var err error
		if i.E2B.Build, err = b.o.Templates(i.E2B.Template); err != nil {
			return err
		}
	}
	b.microvm()
	if b.o.Containers == nil {
		return nil
	}
	for _, pin := range []struct{ vm, container **string }{
		{&i.Microvm.AMD64, &i.Kata.AMD64}, {&i.Microvm.ARM64, &i.Kata.ARM64},
	} {
		if *pin.vm == nil || *pin.container != nil {
			continue
		}
		if found := b.o.Containers(**pin.vm); found != "" {
			*pin.container = &found
		}
	}
	return nil
}

// microvm fills the pins of the images that a profile means here.
func (b *builder) microvm() {
	i := &b.plan.Image
	if b.o.Images == nil || i.Profile == "" {
		return
	}
	for arch, pin := range map[string]**string{"amd64": &i.Microvm.AMD64, "arm64": &i.Microvm.ARM64} {
		if *pin != nil {
			continue
		}
		if found := b.o.Images(i.Profile, arch); found != "" {
			*pin = &found
		}
	}
}

// OutsidePins counts what a plan names that is not a file of the project.
func OutsidePins(p *plan.Plan) int {
	n := 0
	for _, d := range []*string{p.Image.Microvm.AMD64, p.Image.Microvm.ARM64, p.Image.Kata.AMD64, p.Image.Kata.ARM64} {
		if d != nil {
			n++
		}
	}
	if p.Image.E2B.Build != "" {
		n++
	}
	for _, c := range p.Connections {
		n += len(c.Tools)
	}
	return n
}
