package plan

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Measures of the SVG, in its own units.
const (
	boxWidth, boxHeight = 200, 48
	gapX, gapY          = 64, 24
	margin              = 24
	maxLabel            = 28 // runes that fit a box
)

type point struct{ x, y int }

// SVG draws the graph as one self-contained picture: groups of steps that may run side by side from left to right,
// steps in the VM with a thick border. No script, no link, no font file.
func SVG(p *Plan) string {
	waves := Waves(p)
	at := map[string]point{}
	tallest := 0
	for x, wave := range waves {
		for y, id := range wave {
			at[id] = point{margin + x*(boxWidth+gapX), margin + y*(boxHeight+gapY)}
		}
		tallest = max(tallest, len(wave))
	}
	width := 2*margin + len(waves)*(boxWidth+gapX) - gapX
	height := 2*margin + tallest*(boxHeight+gapY) - gapY

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", xmlText(p.Agent.Name))
	b.WriteString(`<style>rect{fill:#fff;stroke:#444;stroke-width:1}.vm rect{fill:#eef4ff;stroke:#1f5fbf;stroke-width:3}` +
		`text{font:13px sans-serif;fill:#222}.c{font-size:11px;fill:#555}path{fill:none;stroke:#777}</style>` + "\n")
	b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">` +
		`<path d="M0 0 8 4 0 8z" style="fill:#777"/></marker></defs>` + "\n")
	for _, s := range p.Steps {
		for _, n := range s.Needs {
			edge(&b, at[n], at[s.ID])
		}
	}
	for _, s := range p.Steps {
		box(&b, s, at[s.ID])
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func edge(b *strings.Builder, from, to point) {
	x1, y1 := from.x+boxWidth, from.y+boxHeight/2
	x2, y2 := to.x, to.y+boxHeight/2
	fmt.Fprintf(b, `<path d="M%d %dC%d %d %d %d %d %d" marker-end="url(#a)"/>`+"\n", x1, y1, x1+gapX/2, y1, x2-gapX/2, y2, x2, y2)
}

func box(b *strings.Builder, s Step, at point) {
	class := ""
	if s.NeedsVM() {
		class = ` class="vm"`
	}
	fmt.Fprintf(b, `<g%s><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="6"/>`,
		class, xmlText(s.ID+": "+caption(s)), at.x, at.y, boxWidth, boxHeight)
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`, at.x+10, at.y+20, xmlText(cut(s.ID)))
	fmt.Fprintf(b, `<text class="c" x="%d" y="%d">%s</text></g>`+"\n", at.x+10, at.y+37, xmlText(cut(caption(s))))
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= maxLabel {
		return s
	}
	return string([]rune(s)[:maxLabel-1]) + "…"
}

// xmlText escapes markup, and drops what XML 1.0 cannot hold at all (https://www.w3.org/TR/xml/#charsets).
func xmlText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(s)
}
