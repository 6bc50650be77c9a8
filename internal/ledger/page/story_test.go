package page_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/page"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

const runName = "20261124-180300-k3fq2a"

var planDigest = "sha256:" + strings.Repeat("ab", 32)

// told is a ledger that a test writes, with what lies beside it.
type told struct {
	t       testing.TB
	dir     string
	w       *ledger.Writer
	at      time.Time
	objects map[string][]byte
	logs    map[string][]byte
	mark    string // in front of every word that a stranger could have written
}

func tell(t testing.TB) *told {
	t.Helper()
	s := &told{
		t: t, dir: t.TempDir(), at: time.Date(2026, 11, 24, 18, 3, 0, 0, time.UTC),
		objects: map[string][]byte{}, logs: map[string][]byte{},
	}
	var err error
	s.w, err = ledger.Create(s.dir, runName, planDigest, ledger.Options{Now: func() time.Time { return s.at }})
	require.NoError(t, err)
	return s
}

// add appends an entry after some ms, and gives its seq.
func (s *told) add(ms int, typ ledger.Type, step string, data ledger.Data) int64 {
	s.at = s.at.Add(time.Duration(ms) * time.Millisecond)
	if step != "" {
		step = s.mark + step
	}
	seq, err := s.w.Append(typ, step, s.marked(data))
	require.NoError(s.t, err)
	return seq
}

// marked puts the mark into every string but digests and the words of joy that end a run.
func (s *told) marked(data ledger.Data) ledger.Data {
	out := ledger.Data{}
	for key, v := range data {
		switch v := v.(type) {
		case string:
			if !strings.HasPrefix(v, "sha256:") && key != "outcome" && key != "status" {
				out[key] = s.mark + v
				continue
			}
			out[key] = v
		case ledger.Data:
			out[key] = s.marked(v)
		default:
			out[key] = v
		}
	}
	return out
}

// body keeps bytes as an object.
func (s *told) body(text string) ledger.Data {
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	s.objects[sum] = []byte(text)
	return ledger.Data{"bytes": len(text), "sha256": sum}
}

// log keeps what a command printed.
func (s *told) log(step string, nth int, stream, text string) ledger.Data {
	s.logs[fmt.Sprintf("%s%s.%d.%s", s.mark, step, nth, stream)] = []byte(text)
	return ledger.Data{"bytes": len(text), "sha256": fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))}
}

// artifact keeps a file that a step left.
func (s *told) artifact(step, name string, content []byte) {
	d := s.body(string(content))
	s.add(12, ledger.ArtifactStored, step, ledger.Data{"name": name, "bytes": d["bytes"], "sha256": d["sha256"], "command": 1})
}

// page closes the ledger and writes its page.
func (s *told) page(change func(*page.Record)) string {
	s.t.Helper()
	if s.w != nil {
		require.NoError(s.t, s.w.Close())
		s.w = nil
	}
	f, err := os.Open(filepath.Join(s.dir, ledger.FileName))
	require.NoError(s.t, err)
	defer f.Close()
	var p page.Page
	c := account.Case{Run: runName}
	rep, err := verify.Check(f, verify.Options{Each: func(e verify.Entry) { c.Add(e); p.Add(e) }})
	require.NoError(s.t, err)
	rec := page.Record{
		Verdict: page.Verdict{Verdict: verify.Judge(rep, verify.Evidence{}), Proofs: []string{s.mark + "chain only"}},
		Why:     c.Diagnose(rep.Unknown), Zone: time.FixedZone("CET", 3600),
		Output: func(step string, nth int, stream string) (io.ReadCloser, error) {
			return stored(s.logs, fmt.Sprintf("%s.%d.%s", step, nth, stream))
		},
		Object: func(digest string) (io.ReadCloser, error) { return stored(s.objects, digest) },
	}
	if change != nil {
		change(&rec)
	}
	var out bytes.Buffer
	require.NoError(s.t, p.Write(&out, rec))
	return out.String()
}

func stored(from map[string][]byte, name string) (io.ReadCloser, error) {
	b, ok := from[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// chart is a picture, such as a step would leave.
func chart() image.Image {
	img := image.NewRGBA(image.Rect(0, 0, 320, 120))
	for x := range 320 {
		top := 60 - 40*math.Sin(float64(x)/30)
		for y := range 120 {
			c := color.RGBA{0xf4, 0xf6, 0xf8, 0xff}
			if float64(y) > top {
				c = color.RGBA{0x2f, 0x6f, 0xb0, 0xff}
			}
			img.Set(x, y, c)
		}
	}
	return img
}

func encoded(t testing.TB, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, chart())
	case "jpeg":
		err = jpeg.Encode(&b, chart(), nil)
	case "gif":
		err = gif.Encode(&b, chart(), nil)
	}
	require.NoError(t, err)
	return b.Bytes()
}
