package image

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/joystream-ai/joy/internal/fault"
)

// fetchPatience is how long a server may take to begin an answer, and to say nothing in the middle of one.
const fetchPatience = 30 * time.Second

// client reaches servers the way the build's environment says, and waits for none forever.
func (b *builder) client() *http.Client {
	proxies := httpproxy.Config{
		HTTPProxy: b.either("HTTP_PROXY", "http_proxy"), HTTPSProxy: b.either("HTTPS_PROXY", "https_proxy"),
		NoProxy: b.either("NO_PROXY", "no_proxy"),
	}
	choose := proxies.ProxyFunc()
	return &http.Client{Transport: &http.Transport{
		Proxy:                 func(r *http.Request) (*url.URL, error) { return choose(r.URL) },
		DialContext:           (&net.Dialer{Timeout: fetchPatience}).DialContext,
		TLSHandshakeTimeout:   fetchPatience,
		ResponseHeaderTimeout: fetchPatience,
		DisableKeepAlives:     true,
	}}
}

func (b *builder) either(a, c string) string {
	if v := b.getenv(a); v != "" {
		return v
	}
	return b.getenv(c)
}

// fetch downloads what is at address to file, of at most limit bytes, and gives the hex SHA-256 of what came. integrity is what it
// must be: sha512-BASE64 or sha256-BASE64, https://www.w3.org/TR/SRI/. A file that is not that is removed.
func (b *builder) fetch(ctx context.Context, what, address, file string, limit int64, integrity string) (sum string, err error) {
	out, err := os.Create(file)
	if err != nil {
		return "", fault.Wrap(fault.Platform, err, "store a download")
	}
	defer func() {
		if cerr := out.Close(); err == nil && cerr != nil {
			err = fault.Wrap(fault.Platform, cerr, "store a download")
		}
		if err != nil {
			os.Remove(file)
		}
	}()
	short, long := sha256.New(), sha512.New()
	at := phase(b.Progress, "downloading "+what, 0)
	if err := b.get(ctx, at, address, io.MultiWriter(out, short, long), limit); err != nil {
		return "", err
	}
	got := map[string]bool{
		"sha256-" + base64.StdEncoding.EncodeToString(short.Sum(nil)): true,
		"sha512-" + base64.StdEncoding.EncodeToString(long.Sum(nil)):  true,
	}
	if !got[integrity] {
		return "", fault.New(fault.Platform, "download %s: sha512 is %s, it must be %s", address, base64.StdEncoding.EncodeToString(long.Sum(nil)), integrity)
	}
	return hex.EncodeToString(short.Sum(nil)), nil
}

// get copies what is at address to w. at may be nil.
func (b *builder) get(ctx context.Context, at *said, address string, w io.Writer, limit int64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "download %s", address)
	}
	resp, err := b.client().Do(req)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "download %s", address).WithHint("check the network and proxy")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fault.New(fault.Platform, "download %s: the server said %s", address, resp.Status)
	}
	silence := time.AfterFunc(fetchPatience, func() { cancel(fmt.Errorf("no byte for %s", fetchPatience)) })
	defer silence.Stop()
	alive := writerFunc(func(p []byte) (int, error) {
		silence.Reset(fetchPatience)
		return w.Write(p)
	})
	body := io.LimitReader(resp.Body, limit+1)
	if at != nil {
		at.Total = max(resp.ContentLength, 0)
		body = at.count(body)
	}
	n, err := io.Copy(alive, body)
	if err == nil && n > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fault.Wrap(fault.Platform, err, "download %s", address).WithHint("check the network and proxy")
	}
	return nil
}
