package page

import (
	"cmp"
	"net"
	"slices"
	"strconv"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// artifact is a file that a step left, or would have.
type artifact struct {
	entry verify.Entry
	step  *step // nil when the page has no room for it
}

func (p *Page) artifact(e verify.Entry) {
	s := p.stepOf(e.Step)
	if len(p.artifacts) == maxArtifacts {
		p.moreArts++
		return
	}
	p.squeeze(e.Data)
	p.artifacts = append(p.artifacts, artifact{e, s})
}

// hosts counts who was reached and who was not.
type hosts struct {
	rows []*host
	by   map[host]*host
	of   map[int64]*host // by the seq of egress.allowed
	more int
}

// host is one destination with one answer. The counts are zero where it is a key.
type host struct {
	name, port, why string
	denied          bool

	times    int
	up, down int64
}

func (h *hosts) add(e verify.Entry) {
	if h.by == nil {
		h.by, h.of = map[host]*host{}, map[int64]*host{}
	}
	switch e.Type {
	case "egress.closed":
		of, _ := e.Int("of")
		if row := h.of[of]; row != nil {
			up, _ := e.Int("up")
			down, _ := e.Int("down")
			row.up, row.down = row.up+up, row.down+down
			delete(h.of, of)
		}
	case "egress.allowed", "egress.denied":
		key := host{
			name: clip(cmp.Or(e.String("host"), e.String("to"))), denied: e.Type == "egress.denied", why: clip(e.String("reason")),
		}
		if n, ok := e.Int("port"); ok {
			key.port = strconv.FormatInt(n, 10)
		} else if name, port, err := net.SplitHostPort(key.name); err == nil { // a request that was denied has both in one
			key.name, key.port = name, port
		}
		row := h.by[key]
		if row == nil {
			if len(h.rows) == maxHosts {
				h.more++
				return
			}
			kept := key
			row = &kept
			h.by[key] = row
			h.rows = append(h.rows, row)
		}
		row.times++
		if !key.denied && len(h.of) < maxOpen {
			h.of[e.Seq] = row
		}
	}
}

// sorted has the denied first, then the order in which they came.
func (h *hosts) sorted() []*host {
	rows := slices.Clone(h.rows)
	slices.SortStableFunc(rows, func(a, b *host) int {
		switch {
		case a.denied == b.denied:
			return 0
		case a.denied:
			return -1
		}
		return 1
	})
	return rows
}
