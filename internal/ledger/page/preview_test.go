package page_test

import (
	"bytes"
	"encoding/binary"
	"html"
	"image"
	"image/png"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/page"
)

// bomb is a PNG of a few bytes that says it has so many pixels on each side.
func bomb(side uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = binary.BigEndian.AppendUint32(b, side)
	b = binary.BigEndian.AppendUint32(b, side)
	b = append(b, 8, 6, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, crc(b[12:]))
}

func crc(b []byte) uint32 { // as PNG has it (https://www.w3.org/TR/png-3/#5CRC-algorithm)
	c := ^uint32(0)
	for _, x := range b {
		c ^= uint32(x)
		for range 8 {
			c = c>>1 ^ 0xedb88320*(c&1)
		}
	}
	return ^c
}

func noise(t *testing.T, side int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

func TestPreviews(t *testing.T) {
	for name, c := range map[string]struct {
		content []byte
		want    string
		picture bool
	}{
		"a picture":                   {encoded(t, "png"), "PNG, 320 × 120", true},
		"text":                        {[]byte("a,b\n1,2\n"), "a,b", false},
		"text of other bytes":         {[]byte("caf\xe9 au lait, s'il vous plait\n"), `caf\xe9 au lait`, false},
		"SVG is text":                 {[]byte("<svg onload='x'/>"), "<svg onload='x'/>", false},
		"HTML is text":                {[]byte("<html><script>x</script>"), "<html><script>x</script>", false},
		"PDF":                         {[]byte("%PDF-1.4\n"), "no preview: neither text", false},
		"an archive":                  {[]byte("PK\x03\x04\x00\x00\x00\x00\x00\x00"), "no preview: neither text", false},
		"a picture by its name alone": {[]byte("not one\n"), "not one", false},
		"a magic number alone":        {[]byte("\x89PNG\r\n\x1a\n"), "begins as a PNG image and is none", false},
		"a WebP that is something else": {
			[]byte("RIFF\x10\x00\x00\x00WEBPoops\x04\x00\x00\x00abcd"), "begins as a WEBP image and is none", false,
		},
		"too many pixels":       {bomb(60000), "no preview: an image of 60000 × 60000 pixels", false},
		"more than a few bytes": {noise(t, 900), "no preview: an image of more than 2 MiB", false},
		"long text":             {[]byte(strings.Repeat("0123456789abcde\n", 1<<14)), "224 KiB not shown", false},
		"empty":                 {nil, "0 B", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			s.add(0, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
			s.artifact("a", "x.png", c.content)
			text := between(t, s.page(nil), `<ul class="artifacts">`, "</ul>")
			has(t, html.UnescapeString(text), c.want)
			require.Equal(t, c.picture, strings.Contains(text, `<img src="data:image/`))
		})
	}
}

// TestPicturesAreBounded holds that many pictures do not make a page without end.
func TestPicturesAreBounded(t *testing.T) {
	s := tell(t)
	s.add(0, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	picture := noise(t, 640) // 1.6 MB
	for range 8 {
		s.artifact("a", "x.png", picture)
	}
	text := s.page(nil)
	require.Equal(t, 5, strings.Count(text, "<img "))
	has(t, text, "no preview: the page has enough images")
	require.Less(t, len(text), page.MaxBytes)
}

var control = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")

// FuzzArtifact holds that no bytes of an artifact leave their place: the page has the elements that joy put there, and no
// character that a reader would not see.
func FuzzArtifact(f *testing.F) {
	for _, seed := range []string{
		hostile, "</pre></li></ul>", "\x89PNG\r\n\x1a\n", "GIF89a", "RIFF0000WEBPVP8L", "\xff\xd8\xff", "%PDF-", "\n\nx", "{{.}}", "\u202e\xff\x00", "<!--",
	} {
		f.Add([]byte(seed))
	}
	f.Add(encoded(f, "png"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := tell(t)
		s.add(0, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
		s.artifact("a", "x", b)
		list := between(t, s.page(nil), `<ul class="artifacts">`, "</ul>")
		for _, tag := range tags.FindAllString(list, -1) {
			name := strings.Trim(strings.Fields(strings.Trim(tag, "</>"))[0], "/")
			require.Contains(t, []string{"li", "h3", "p", "span", "a", "code", "figure", "figcaption", "img", "details", "summary", "pre", "div"}, name)
		}
		require.False(t, control.MatchString(list), "a character that nobody sees")
	})
}
