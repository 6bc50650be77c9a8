package page_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// heard is a node of the accessibility tree: what a screen reader says of a part of the page.
type heard struct {
	Role, Name string
	Level      int // of a heading
}

// hear is the page in the order in which it is read out.
func (b *tab) hear() (list []heard) {
	b.Helper()
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	require.NoError(b, err)
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range tree.Nodes {
		nodes[n.NodeID] = n
	}
	var walk func(*accessibility.Node)
	walk = func(n *accessibility.Node) {
		if n == nil {
			return
		}
		if !n.Ignored && n.Role != nil {
			h := heard{}
			require.NoError(b, json.Unmarshal(n.Role.Value, &h.Role))
			if n.Name != nil && len(n.Name.Value) > 0 {
				require.NoError(b, json.Unmarshal(n.Name.Value, &h.Name))
			}
			for _, p := range n.Properties {
				if p.Name == "level" {
					require.NoError(b, json.Unmarshal(p.Value.Value, &h.Level))
				}
			}
			list = append(list, h)
		}
		for _, id := range n.ChildIDs {
			walk(nodes[id])
		}
	}
	walk(tree.Nodes[0])
	return list
}

// TestWhatIsHeard reads a page as a screen reader does: all that is used has a name in words, the headings are in order, each
// landmark is there once, and the timeline says what it draws.
func TestWhatIsHeard(t *testing.T) {
	chrome := chromium(t)
	s := failedRun(t, "")
	b := open(t, chrome, s.page(withPlan(s)), true)
	require.Equal(t, "en", eval[string](b, `document.documentElement.lang`))
	require.Empty(t, eval[[]string](b, `[...document.querySelectorAll("[tabindex]")].filter(e => !e.ariaLabel || !e.role).map(e => e.outerHTML.slice(0, 80))`))
	names := map[string][]string{}
	level := 0
	for _, h := range b.hear() {
		names[h.Role] = append(names[h.Role], h.Name)
		switch h.Role {
		case "link", "button", "searchbox", "DisclosureTriangle", "image", "table", "region", "article", "navigation", "columnheader", "rowheader", "heading":
			require.NotEmpty(t, strings.TrimSpace(h.Name), "%s without a name, after %v", h.Role, names["heading"])
			require.False(t, strings.ContainsAny(h.Name, "✓✕›⋯"), "a sign is read out: %q", h.Name)
		}
		if h.Role == "heading" {
			require.LessOrEqual(t, h.Level, level+1, "a level is left out at %q", h.Name)
			level = h.Level
		}
	}
	for _, landmark := range []string{"banner", "navigation", "main", "search", "contentinfo"} {
		require.Len(t, names[landmark], 1, landmark)
	}
	require.Equal(t, []string{"weekly-report"}, names["heading"][:1])
	links := slices.Compact(slices.Sorted(slices.Values(names["link"])))
	require.Contains(t, links, "render: script render-report, after fetch, failed, in the VM", "a box of the graph says what it follows")
	require.Contains(t, names["cell"], "from 906 ms to 3.8 s", "when a step was there")
	for _, name := range names["columnheader"] {
		require.NotEmpty(t, name)
	}
}

// TestNothingIsOutOfSight holds that every part is where it can be seen, whatever its class.
func TestNothingIsOutOfSight(t *testing.T) {
	chrome := chromium(t)
	s := failedRun(t, "")
	b := open(t, chrome, s.page(withPlan(s)), true)
	b.window(1280, 900)
	require.Empty(t, eval[[]string](b, `[...document.querySelectorAll("main section, article, tr, .node, .state, .trouble li, dt")]
		.filter(e => e.checkVisibility()).filter(e => { const r = e.getBoundingClientRect(); return r.right <= 0 || r.left < 0 || r.width < 4 || r.height < 4; })
		.map(e => e.outerHTML.slice(0, 80))`))
	require.Contains(t, eval[string](b, `document.querySelector("main").innerText`), "Never began: render failed")
	require.Equal(t, "Never began: render failed", eval[string](b, `document.elementFromPoint(...(() => {
		const e = document.querySelector("article.skip .left"); e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect(); return [r.left + 5, r.top + 5];
	})()).textContent`))
}
