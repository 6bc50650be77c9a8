package page_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// chromium starts one browser for a test. Without one the test fails: what a browser makes of a page is the point.
func chromium(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	require.NotEmpty(t, path, "chromium is not on PATH: run script/setup, or apt-get install chromium; go test -short goes without")
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()))
	if os.Getuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // it refuses to start as root with one
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the process, so that its directory can be removed
		cancel()
	})
	require.NoError(t, chromedp.Do(ctx))
	return ctx
}

// tab is a page in a browser, and what the browser did besides showing it.
type tab struct {
	*testing.T
	ctx context.Context

	mu   sync.Mutex
	list []string
}

func (b *tab) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, fmt.Sprintf(format, args...))
}

// seen is every request but that for the page, every word on the console, every violation of the policy, which is
// logged, and every dialog.
func (b *tab) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.list...)
}

// open shows a page in a tab of its own.
func open(t *testing.T, browser context.Context, html string, scripts bool) *tab { //nolint:revive // t comes first in a test
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.html")
	require.NoError(t, os.WriteFile(file, []byte(html), 0o600))
	url := "file://" + filepath.ToSlash(file)
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if e.Request.URL != url && !strings.HasPrefix(e.Request.URL, "data:image/") {
				b.note("request %s", e.Request.URL)
			}
		case *log.EventEntryAdded:
			b.note("log %s: %s", e.Entry.Level, e.Entry.Text)
		case *runtime.EventConsoleAPICalled:
			b.note("console %s", e.Type)
		case *runtime.EventExceptionThrown:
			b.note("exception %s", e.ExceptionDetails.Text)
		case *page.EventJavascriptDialogOpening:
			b.note("dialog %s", e.Message)
		case *page.EventWindowOpen:
			b.note("window %s", e.URL)
		}
	}))
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	b.do(chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("footer")))
	return b
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	require.NoError(b, err)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	require.NoError(b, chromedp.Do(b.ctx, steps...))
}

// eval is what an expression, or the promise that it makes, gives in the page.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	wait := func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, wait))
	require.NoError(b, err, expression)
	return out
}

// shoot keeps a picture of the whole page, for go test -artifacts.
func (b *tab) shoot(width int64, scheme, name string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600,
	})
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(b, err)
	require.NotEmpty(b, png)
	require.NoError(b, os.WriteFile(filepath.Join(b.ArtifactDir(), fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), png, 0o600))
}
