package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// Upload writes size bytes of r to a file of the daemon's user, whose directories are made where they are missing. The file
// is whole or not there: it is written beside itself and moved. It has mode 0644.
func (d *Daemon) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	part := path.Join(path.Dir(name), "."+path.Base(name)+".part")
	if err := d.write(ctx, part, r, size); err != nil {
		return err
	}
	return d.unary(ctx, "moving a file in the sandbox", "/filesystem.Filesystem/Move", map[string]string{"source": part, "destination": name})
}

func (d *Daemon) write(ctx context.Context, name string, r io.Reader, size int64) error {
	const op = "sending a file to the sandbox"
	// All of it must be sent before the daemon answers, so the limit is on its progress.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := newPaced(r, cancel)
	defer body.stop()
	query := url.Values{"path": {name}, "username": {d.user}}
	req, err := d.request(ctx, http.MethodPost, "/files", query, body)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	req.ContentLength = size
	if !d.octet {
		wrapped, kind, length := form(body, path.Base(name), size)
		req.Body, req.ContentLength = io.NopCloser(wrapped), length
		req.Header.Set("Content-Type", kind)
	}
	resp, err := d.client.http.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return unanswered(op, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	switch {
	case err != nil:
		return unanswered(op, err)
	case resp.StatusCode != http.StatusOK:
		return daemonError(op, resp, data)
	}
	return nil
}

// Download opens a file of the sandbox. The caller closes it; one that ends early is an error of Read. size is -1 when the
// daemon does not say.
func (d *Daemon) Download(ctx context.Context, name string) (r io.ReadCloser, size int64, err error) {
	return d.DownloadFrom(ctx, name, 0)
}

// DownloadFrom is Download without the first from bytes; size is that of the rest.
func (d *Daemon) DownloadFrom(ctx context.Context, name string, from int64) (r io.ReadCloser, size int64, err error) {
	const op = "fetching a file from the sandbox"
	query := url.Values{"path": {name}, "username": {d.user}}
	want, head := http.StatusOK, map[string]string(nil)
	if from > 0 {
		want, head = http.StatusPartialContent, map[string]string{"Range": fmt.Sprintf("bytes=%d-", from)}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	resp, stop, err := d.send(ctx, op, http.MethodGet, "/files", query, head, nil)
	if err != nil {
		cancel(nil)
		return nil, 0, err
	}
	end := func() { cancel(nil); stop(); resp.Body.Close() }
	if resp.StatusCode != want {
		defer end()
		if resp.StatusCode == http.StatusOK {
			return nil, 0, &Error{Op: op, Kind: ErrProtocol, Message: "a part was asked for, and all of the file came"}
		}
		data, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
		return nil, 0, daemonError(op, resp, data)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		end()
		return nil, 0, &Error{Op: op, Kind: ErrProtocol, Message: "the file is encoded: " + said(enc)}
	}
	if from > 0 && !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", from)) {
		end()
		return nil, 0, &Error{Op: op, Kind: ErrProtocol, Message: "another part came than was asked for: " + said(resp.Header.Get("Content-Range"))}
	}
	return &download{newPaced(resp.Body, cancel), end}, resp.ContentLength, nil
}

type download struct {
	*paced
	end func()
}

func (d *download) Close() error {
	d.stop()
	d.end()
	return nil
}

// form wraps a body as the only file of a form, whose length is known beforehand.
func form(r io.Reader, name string, size int64) (body io.Reader, kind string, length int64) {
	var lead bytes.Buffer
	w := multipart.NewWriter(&lead)
	_, _ = w.CreateFormFile("file", name) // into memory
	tail := "\r\n--" + w.Boundary() + "--\r\n"
	length = int64(lead.Len()) + size + int64(len(tail))
	return io.MultiReader(&lead, r, strings.NewReader(tail)), w.FormDataContentType(), length
}

// paced is a body that may take as long as it moves: after silence without a byte it ends its request.
type paced struct {
	r     io.Reader
	timer *time.Timer
}

func newPaced(r io.Reader, cancel context.CancelCauseFunc) *paced {
	return &paced{r, time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing moved for %s", silence)) })}
}

func (p *paced) stop() { p.timer.Stop() }

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.timer.Reset(silence)
	return n, err
}
