// Package witness hands what a ledger was to somebody outside: a program of the user's, or a URL.
//
// The one rule: a witness is named by who starts a run and by nobody else, and it is told digests and counts, never what
// happened. What it answers is kept and believed in nothing: only a signature in it, checked with a key that came by
// another way, says more than the file it lies in.
package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// Within is how long a witness may take to answer.
const Within = 10 * time.Second

// MaxAnswer is the most bytes that a witness may answer.
const MaxAnswer = 64 << 10

// Statement is what a witness is told, as one JSON object. Its keys are in docs/ledger-format.md.
type Statement struct {
	Schema    string `json:"schema"` // joy.witness/1
	At        string `json:"at"`     // start | end
	Run       string `json:"run"`
	Agent     string `json:"agent"`
	Workspace string `json:"workspace"`
	Plan      string `json:"plan"`    // digest
	Entries   int64  `json:"entries"` // 0 at the start
	Head      string `json:"head"`    // hash of the last entry; at the start the digest of the plan, which line 1 follows
	Seal      string `json:"seal,omitempty"`
}

// Witness is a program or a URL.
type Witness struct {
	argv   []string
	url    *url.URL
	dir    string
	client *http.Client
}

// Parse reads what a user named: an https URL, or a program and its arguments, separated by spaces; there is no shell.
// The program starts in dir (absolute). client is for URLs; nil is one that follows no redirect.
func Parse(text, dir string, client *http.Client) (*Witness, error) {
	argv := strings.Fields(text)
	if len(argv) == 0 {
		return nil, fault.New(fault.Input, "the witness has no name")
	}
	if !strings.Contains(argv[0], "://") {
		if strings.ContainsAny(argv[0], `/\`) && !filepath.IsAbs(argv[0]) {
			argv[0] = filepath.Join(dir, argv[0])
		}
		return &Witness{argv: argv, dir: dir}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, fault.New(fault.Input, "the witness is no https URL: what it is told must reach it unchanged")
	}
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("it leads elsewhere, and joy does not follow")
		}}
	}
	return &Witness{url: u, client: client}, nil
}

// Name is how the record calls the witness: the program without its arguments, the URL without user and query, for
// those may hold a secret.
func (w *Witness) Name() string {
	if w.url == nil {
		return filepath.Base(w.argv[0])
	}
	return w.url.Scheme + "://" + w.url.Host + w.url.EscapedPath()
}

// Tell hands s over and returns the answer, which is UTF-8. A program must end with 0, a URL answer with 2xx. The error
// is of kind Platform.
func (w *Witness) Tell(ctx context.Context, s Statement) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	body, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	var answer []byte
	if w.url == nil {
		answer, err = w.run(ctx, body)
	} else {
		answer, err = w.post(ctx, body)
	}
	if err == nil && len(answer) > MaxAnswer {
		err = fmt.Errorf("it answered more than %d KiB", MaxAnswer>>10)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not answer within %s", Within)
	}
	if err != nil {
		return "", fault.Wrap(fault.Platform, err, "tell the witness %s", w.Name())
	}
	return strings.ToValidUTF8(string(answer), "\uFFFD"), nil
}

func (w *Witness) run(ctx context.Context, body []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, w.argv[0], w.argv[1:]...)
	cmd.Dir = w.dir
	cmd.Stdin = bytes.NewReader(append(body, '\n'))
	cmd.WaitDelay = time.Second // for what it left behind with its stdout
	var out answer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil && !out.over {
		return nil, err
	}
	return out.kept, nil
}

// answer keeps one byte more than an answer may have, and then ends the program that prints it.
type answer struct {
	kept []byte
	over bool
}

func (a *answer) Write(p []byte) (int, error) {
	a.kept = append(a.kept, p[:min(len(p), MaxAnswer+1-len(a.kept))]...)
	if a.over = len(a.kept) > MaxAnswer; a.over {
		return 0, errors.New("too much")
	}
	return len(p), nil
}

func (w *Witness) post(ctx context.Context, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := w.client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // its text has the whole URL
		}
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("it answered %s", res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, MaxAnswer+1))
}
