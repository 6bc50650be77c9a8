package page_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// window gives the tab a size, and ends what scrolls smoothly, so that a place can be asked for at once.
func (b *tab) window(width, height int64) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// stop is where the focus is, and how it is seen there.
type stop struct {
	N     int    // among all that can have the focus and are not folded away, as they stand in the page; -1 for none
	What  string // for the message of a failure
	Ring  bool   // the focus is shown
	Clear bool   // its beginning is in the window, with nothing over it
}

// stops is in the page what stop says; where(e) is for an element, where(null) for the one with the focus.
const stops = `window.stops = () => [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")].filter(e => e.checkVisibility());
window.where = () => {
	const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
	const over = document.elementFromPoint(box.left + 4, box.top + Math.min(4, box.height / 2));
	return {
		N: stops().indexOf(e), What: e.tagName + " " + (e.id || e.textContent.trim().replace(/\s+/g, " ").slice(0, 60)),
		Ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
		Clear: Boolean(over) && (e.contains(over) || over.contains(e)),
	};
};
stops().length`

// shift is the modifier of DispatchKeyEvent (https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-dispatchKeyEvent).
const shift = 8

func (b *tab) press(keys string, modifiers int64) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys, func(p *input.DispatchKeyEventParams) { p.Modifiers = modifiers }))
}

// TestFocus goes through a page by Tab, and back: in the order of the page, to all that can be used and out of it, each place
// marked and with nothing over it (WCAG 2.2: 2.1.1, 2.1.2, 2.4.3, 2.4.7, 2.4.11).
func TestFocus(t *testing.T) {
	chrome := chromium(t)
	s := failedRun(t, "")
	html := s.page(withPlan(s))
	for _, width := range []int64{380, 800, 1600} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b := open(t, chrome, html, true)
			b.window(width, 700)
			all := eval[int](b, stops)
			require.Greater(t, all, 30)
			for _, way := range []int64{0, shift} {
				for i := range all {
					b.press(kb.Tab, way)
					at, want := eval[stop](b, `where()`), i
					if way != 0 {
						want = all - 1 - i
					}
					require.Equal(t, stop{want, at.What, true, true}, at)
				}
				if b.press(kb.Tab, way); way == 0 { // backwards a window without controls begins at its other end
					require.Equal(t, -1, eval[stop](b, `where()`).N, "the focus leaves the page")
				}
			}
		})
	}
}

// TestKeys holds that what folds does so by Enter and by Space, that the skip link skips, and that a link leads to what a filter
// had left out.
func TestKeys(t *testing.T) {
	chrome := chromium(t)
	s := failedRun(t, "")
	b := open(t, chrome, s.page(withPlan(s)), true)
	b.window(1280, 700)
	require.Positive(t, eval[int](b, stops))

	b.press(kb.Tab, 0)
	b.press(kb.Enter, 0)
	b.press(kb.Tab, 0)
	require.Equal(t, "find", eval[string](b, `document.activeElement.id`), "behind the skip link are the steps")

	folded := `document.querySelector(".item:not([open]) > summary")`
	eval[bool](b, `(() => { window.item = `+folded+`.parentElement; item.firstElementChild.focus(); return true })()`)
	for _, key := range []string{kb.Enter, " "} {
		b.press(key, 0)
		require.True(t, eval[bool](b, `item.open`), "%q", key)
		b.press(key, 0)
		require.False(t, eval[bool](b, `item.open`), "%q", key)
	}

	eval[bool](b, `(() => { document.querySelector("[data-show=network]").focus(); return true })()`)
	b.press(" ", 0)
	require.NotEmpty(t, eval[string](b, `(() => {
		window.lost = document.querySelector(".item[hidden].fail");
		document.querySelector(".trouble a[href='#" + lost.id + "']").focus();
		return lost.id;
	})()`))
	b.press(kb.Enter, 0)
	require.True(t, eval[bool](b, `new Promise(done => {
		const look = () => lost.checkVisibility() && lost.open && lost.getBoundingClientRect().top < innerHeight ? done(true) : requestAnimationFrame(look);
		look();
	})`))
	require.Equal(t, "true", eval[string](b, `document.querySelector("[data-show='']").getAttribute("aria-pressed")`), "the filter is off, and says so")
	require.Empty(t, b.seen())
}
