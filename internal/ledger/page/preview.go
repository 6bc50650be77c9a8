package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	_ "image/gif" // the decoders of what becomes a picture
	_ "image/jpeg"
	_ "image/png"
	"io"
	"strings"

	"github.com/joystream-ai/joy/internal/term"

	_ "golang.org/x/image/webp" // the fourth of them
)

// picture is an image in the page.
type picture struct {
	URL           template.URL // data:
	Width, Height int
	Format        string
}

// magics are how the formats that become pictures begin. A name says nothing: it is a stranger's word.
var magics = []struct{ format, magic string }{
	{"png", "\x89PNG\r\n\x1a\n"},
	{"jpeg", "\xff\xd8\xff"},
	{"gif", "GIF87a"},
	{"gif", "GIF89a"},
	{"webp", "RIFF????WEBP"},
}

// sniff is the format that the first bytes are of, or "".
func sniff(b []byte) string {
next:
	for _, m := range magics {
		if len(b) < len(m.magic) {
			continue
		}
		for i := range len(m.magic) {
			if m.magic[i] != '?' && m.magic[i] != b[i] {
				continue next
			}
		}
		return m.format
	}
	return ""
}

// preview shows an artifact as a picture, as text, or not at all.
func (r *room) preview(c claim, open func() (io.ReadCloser, error)) (*picture, text) {
	k := &endsOf{heads: maxTextArtifact, tails: 0}
	if c.bytes <= maxImage {
		k.heads = maxImage
	}
	if problem := r.load(k, c, open); problem != "" {
		return nil, text{Problem: problem}
	}
	if format := sniff(k.head); format != "" {
		pic, problem := r.picture(format, k.head, k.total)
		return pic, text{Problem: problem}
	}
	if !looksLikeText(k.head) || bytes.HasPrefix(k.head, []byte("%PDF-")) {
		return nil, text{Problem: "no preview: neither text nor a PNG, JPEG, GIF or WebP image"}
	}
	if len(k.head) > maxTextArtifact {
		k.head = k.head[:maxTextArtifact]
	}
	return nil, r.fit(k.text())
}

// picture makes an image of bytes, or says why not.
func (r *room) picture(format string, b []byte, total int64) (*picture, string) {
	if int64(len(b)) != total || total > maxImage {
		return nil, fmt.Sprintf("no preview: an image of more than %s", term.Size(maxImage))
	}
	conf, found, err := image.DecodeConfig(bytes.NewReader(b))
	switch {
	case err != nil || found != format:
		return nil, "no preview: it begins as a " + strings.ToUpper(format) + " image and is none"
	case conf.Width < 1 || conf.Height < 1 || int64(conf.Width)*int64(conf.Height) > maxPixels:
		return nil, fmt.Sprintf("no preview: an image of %d × %d pixels", conf.Width, conf.Height)
	case len(b) > r.images:
		return nil, "no preview: the page has enough images"
	}
	r.images -= len(b)
	// The type is one of four that joy names, and base64 has no character that could end the attribute.
	url := "data:image/" + format + ";base64," + base64.StdEncoding.EncodeToString(b)
	return &picture{template.URL(url), conf.Width, conf.Height, strings.ToUpper(format)}, "" //nolint:gosec // see above
}
