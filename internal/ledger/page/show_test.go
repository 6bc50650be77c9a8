package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// hostile wants to become anything but text.
const hostile = "\"'></pre></title></style></svg><img class=evil src=https://evil.example/x onerror=alert(1)>" +
	"<script class=evil>alert(1)</script><svg class=evil onload=alert(1)>\x1b[31m\u202e{{.}}<!--"

// TestInABrowser opens a run that failed, one that wants to break out, and looks at what the browser did.
func TestInABrowser(t *testing.T) {
	chrome := chromium(t)
	for name, mark := range map[string]string{"failed": "", "hostile": hostile} {
		t.Run(name, func(t *testing.T) {
			s := failedRun(t, mark)
			html := s.page(withPlan(s))
			b := open(t, chrome, html, true)
			require.Equal(t, 4, eval[int](b, `[...document.images].filter(i => i.complete && i.naturalWidth > 0).length`), "PNG, JPEG, GIF and WebP are shown")
			require.Zero(t, eval[int](b, `document.querySelectorAll(".evil, img:not([src^='data:image/']), iframe, object, embed, link, base").length`))
			require.Equal(t, 1, eval[int](b, `document.scripts.length`))
			require.Empty(t, eval[[]string](b, `[...document.querySelectorAll("*")].flatMap(e => [...e.attributes]).map(a => a.name).filter(n => n.startsWith("on") || n === "style")`))
			require.Equal(t, "grid", eval[string](b, `getComputedStyle(document.querySelector(".item > summary")).display`), "the policy lets its style in")
			require.False(t, eval[bool](b, `document.querySelector(".tools").hidden`), "and its script")
			for _, width := range []int64{380, 1280} {
				for _, scheme := range []string{"light", "dark"} {
					b.shoot(width, scheme, name)
					wide := eval[int64](b, `document.documentElement.scrollWidth`)
					require.LessOrEqual(t, wide, width, "the page is as wide as its window")
				}
			}
			require.Empty(t, b.seen())
		})
	}
}

func TestFindAndFilter(t *testing.T) {
	chrome := chromium(t)
	s := failedRun(t, "")
	b := open(t, chrome, s.page(withPlan(s)), true)
	visible := `[...document.querySelectorAll(".item:not([hidden]) .title")].map(e => e.textContent)`
	all := eval[[]string](b, visible)
	require.Len(t, all, 11)
	click := func(sel string) { b.do(chromedp.Click(chromedp.CSS(sel))) }
	click(`[data-show=network]`)
	require.Equal(t, []string{"orders.example.com:443", "telemetry.example.net:443"}, eval[[]string](b, visible))
	click(`[data-show=bad]`)
	require.Len(t, eval[[]string](b, visible), 7)
	require.Equal(t, "7 of 11", eval[string](b, `document.getElementById("count").textContent`))
	b.do(chromedp.SendKeys(chromedp.ID("find"), "keyerror"))
	require.Equal(t, "1 of 11", eval[string](b, `new Promise(done => {
		const count = document.getElementById("count"), look = () => count.textContent === "1 of 11" && done(count.textContent);
		new MutationObserver(look).observe(count, {childList: true});
		look();
	})`))
	require.Equal(t, []string{"python3 /workspace/skills/render-report/render.py --week 48"}, eval[[]string](b, visible))
	click(`#expand`)
	require.Zero(t, eval[int](b, `document.querySelectorAll("main details:not([open])").length`))
	require.Empty(t, b.seen())
}

// TestWithoutScript holds that the page is whole without its script.
func TestWithoutScript(t *testing.T) {
	chrome := chromium(t)
	s := failedRun(t, "")
	b := open(t, chrome, s.page(withPlan(s)), false)
	text := eval[string](b, `document.querySelector("main").innerText`)
	for _, want := range []string{
		"python3 /workspace/skills/fetch-orders/fetch.py", "python3 /workspace/skills/render-report/render.py --week 48",
		`\x1b[31mKeyError: 'region'\x1b[0m \u202egpj.exe\x00?`, "telemetry.example.net", "nobody approved it",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "Expand all", "what only the script can do is not offered")
	b.do(chromedp.Click(chromedp.CSS(".item:not([open]) summary")))
	require.Contains(t, eval[string](b, `document.querySelector("main").innerText`), "948 orders", "a part opens without it")
	require.Empty(t, b.seen())
	b.shoot(1280, "light", "no-script")
}

// TestTheTestSees holds that a page which does what it must not is noticed: the tests above would be worth nothing.
func TestTheTestSees(t *testing.T) {
	chrome := chromium(t)
	policy := `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'none'; script-src 'unsafe-inline'; img-src data:">`
	for name, c := range map[string]struct{ html, want string }{
		"a request":   {`<img src="http://127.0.0.1:9/x">`, "request http://127.0.0.1:9/x"},
		"a violation": {policy + `<style>p{color:red}</style>`, "Content Security Policy"},
		"a word":      {`<script>console.log("x")</script>`, "console log"},
		"an error":    {`<script>throw new Error("x")</script>`, "exception"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, chrome, "<!doctype html><body>"+c.html+"<footer>x</footer>", true)
			require.Contains(t, fmt.Sprint(strings.Join(b.seen(), "\n")), c.want)
		})
	}
}
