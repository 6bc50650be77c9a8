package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var request = CreateRequest{Template: "acme/full", Lease: 2 * time.Minute, Metadata: map[string]string{"joy_nonce": "n1"}}

func TestCreate(t *testing.T) {
	var got map[string]any
	var key string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("X-API-Key")
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &got)
		answer{201, nil, `{"sandboxID":"iabc","templateID":"t1","clientID":"x","envdVersion":"0.6.13","envdAccessToken":"tok","trafficAccessToken":null,"domain":null}`}.to(w)
	})
	s, err := c.Create(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, Created{ID: "iabc", Template: "t1", Daemon: "0.6.13", AccessToken: "tok"}, s)
	require.Equal(t, testKey, key)
	require.Equal(t, map[string]any{
		"templateID": "acme/full", "timeout": 120.0, "metadata": map[string]any{"joy_nonce": "n1"}, "secure": true,
		"allow_internet_access": false, "autoPause": false, "network": map[string]any{"allowPublicTraffic": false},
	}, got)
}

// A create is repeated only when it cannot have taken effect, and it is said when it may have.
func TestCreateOnce(t *testing.T) {
	good := answer{201, nil, `{"sandboxID":"iabc"}`}
	limited := answer{429, map[string]string{"Retry-After": "1"}, `{"message":"Rate limit exceeded"}`}
	for name, test := range map[string]struct {
		answers []answer
		sent    int
		kind    error
	}{
		"a rate limit passes":        {[]answer{limited, limited, good}, 3, nil},
		"one that does not":          {[]answer{limited}, tries, ErrRate},
		"one of an hour":             {[]answer{{429, map[string]string{"Retry-After": "3600"}, ``}}, 1, ErrRate},
		"the quota does not":         {[]answer{{429, nil, `{"message":"maximum number of concurrent"}`}, good}, 1, ErrQuota},
		"a bad key":                  {[]answer{{401, nil, ``}, good}, 1, ErrKey},
		"a refusal":                  {[]answer{{400, nil, ``}, good}, 1, ErrRefused},
		"a failure on the way":       {[]answer{{500, nil, `{"error_code":"sandbox_create_failed"}`}, good}, 1, ErrUnknown},
		"a gateway":                  {[]answer{{504, nil, `<html>`}, good}, 1, ErrUnknown},
		"a cut":                      {[]answer{{}, good}, 1, ErrUnknown},
		"an answer that is cut":      {[]answer{{201, map[string]string{"Content-Length": "500"}, `{"sandb`}, good}, 1, ErrUnknown},
		"an answer of nonsense":      {[]answer{{201, nil, `[]`}, good}, 1, ErrUnknown},
		"an answer without an id":    {[]answer{{201, nil, `{}`}, good}, 1, ErrUnknown},
		"an id that leads elsewhere": {[]answer{{201, nil, `{"sandboxID":"../x"}`}, good}, 1, ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			_, err := serve(t, script(&sent, test.answers...)).Create(t.Context(), request)
			require.ErrorIs(t, err, test.kind)
			if test.kind == nil {
				require.NoError(t, err)
			}
			require.EqualValues(t, test.sent, sent.Load())
		})
	}
}

// Without a connection nothing was sent: it is tried again, and known to have had no effect.
func TestCreateWithoutConnection(t *testing.T) {
	c, err := New(Config{Key: testKey, APIURL: "http://127.0.0.1:1"}) // no port that another program is given by chance
	require.NoError(t, err)
	waits := 0
	c.wait = func(time.Duration) <-chan time.Time { waits++; return time.After(0) }
	_, err = c.Create(t.Context(), request)
	require.ErrorIs(t, err, ErrUnavailable)
	require.NotErrorIs(t, err, ErrUnknown)
	require.Equal(t, tries-1, waits)
}

func TestCreateRefuses(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
	for _, r := range []CreateRequest{
		{},
		{Template: "base"},
		{Template: "base", Lease: time.Millisecond},
		{Template: "base", Lease: 1500 * time.Millisecond},
		{Template: "base", Lease: time.Minute, Metadata: map[string]string{"a": "b&c"}},
		{Template: "base", Lease: time.Minute, Metadata: map[string]string{"a=": "b"}},
	} {
		_, err := c.Create(t.Context(), r)
		require.Error(t, err)
	}
	for _, id := range []string{"", "..", "a/b", "a?b", "a%2f", "-a", "ä"} {
		_, err := c.Get(t.Context(), id)
		require.ErrorContains(t, err, "not an id")
		require.Error(t, c.Kill(t.Context(), id))
		require.Error(t, c.SetEnd(t.Context(), id, time.Minute))
	}
}

// What can be repeated without harm is.
func TestRepeats(t *testing.T) {
	for name, test := range map[string]struct {
		answers []answer
		sent    int
		kind    error
	}{
		"500, 500, gone":    {[]answer{{500, nil, ``}, {500, nil, ``}, {204, nil, ``}}, 3, nil},
		"cut, then gone":    {[]answer{{}, {204, nil, ``}}, 2, nil},
		"cut, then no more": {[]answer{{}, {404, nil, ``}}, 2, ErrNotFound},
		"a conflict stays":  {[]answer{{409, nil, ``}}, 1, ErrConflict},
		"never better":      {[]answer{{503, nil, ``}}, tries, ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			err := serve(t, script(&sent, test.answers...)).Kill(t.Context(), "i1")
			require.EqualValues(t, test.sent, sent.Load())
			if test.kind == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, test.kind)
		})
	}
}

func TestSetEnd(t *testing.T) {
	var path, body string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		path, body = r.Method+" "+r.URL.Path, string(b)
		w.WriteHeader(http.StatusNoContent)
	})
	require.NoError(t, c.SetEnd(t.Context(), "i1", 2*time.Minute))
	require.Equal(t, "POST /sandboxes/i1/timeout", path)
	require.JSONEq(t, `{"timeout":120}`, body)
}

// pages serves 250 sandboxes, every second of which is ours, whatever the filter says.
func pages(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("nextToken"))
	list := []map[string]any{}
	for i := from; i < min(from+100, 250); i++ {
		tags := map[string]string{"joy_owner": "me"}
		if i%2 == 1 {
			tags["joy_owner"] = "you"
		}
		list = append(list, map[string]any{"sandboxID": fmt.Sprintf("i%d", i), "metadata": tags})
	}
	if from+100 < 250 {
		w.Header().Set("x-next-token", strconv.Itoa(from+100))
	}
	_ = json.NewEncoder(w).Encode(list)
}

// All pages are read, and what a server gives beyond the filter is left out.
func TestList(t *testing.T) {
	var query url.Values
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { query = r.URL.Query(); pages(w, r) })
	list, err := c.List(t.Context(), map[string]string{"joy_owner": "me"})
	require.NoError(t, err)
	require.Len(t, list, 125)
	require.Equal(t, "joy_owner=me", query.Get("metadata"))
	require.Equal(t, "running,paused", query.Get("state"))
}

func TestListIsWholeOrAnError(t *testing.T) {
	calls := 0
	for name, handler := range map[string]http.HandlerFunc{
		"a page is missing": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("nextToken") != "" {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			pages(w, r)
		},
		"a circle": func(w http.ResponseWriter, _ *http.Request) {
			answer{200, map[string]string{"X-Next-Token": "a"}, `[]`}.to(w)
		},
		"no end": func(w http.ResponseWriter, _ *http.Request) {
			calls++
			answer{200, map[string]string{"X-Next-Token": strconv.Itoa(calls)}, `[]`}.to(w)
		},
		"no list": func(w http.ResponseWriter, _ *http.Request) { answer{200, nil, `{}`}.to(w) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := serve(t, handler).List(t.Context(), map[string]string{"joy_owner": "me"})
			require.Error(t, err)
		})
	}
	_, err := serve(t, pages).List(t.Context(), map[string]string{"a": "b=c"})
	require.Error(t, err)
}

// What is listed twice is one sandbox, and what was found before a list broke is given with the error.
func TestListThatOverlaps(t *testing.T) {
	one := `[{"sandboxID":"i1","state":"running"}]`
	circle := func(w http.ResponseWriter, _ *http.Request) {
		answer{200, map[string]string{"X-Next-Token": "a"}, one}.to(w)
	}
	list, err := serve(t, circle).List(t.Context(), nil)
	require.ErrorIs(t, err, ErrProtocol)
	require.Len(t, list, 1)
	require.Equal(t, "i1", list[0].ID)

	shifted := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("nextToken") == "" {
			circle(w, r)
			return
		}
		answer{200, nil, one}.to(w)
	}
	list, err = serve(t, shifted).List(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

func TestResolve(t *testing.T) {
	routes := map[string]answer{
		"/templates/aliases/acme%2Ffull": {200, nil, `{"templateID":"t1","public":false}`},
		"/templates/t1/tags":             {200, nil, `[{"tag":"v1","buildID":"b-1"},{"tag":"default","buildID":"b-2"}]`},
		"/templates/aliases/old":         {200, nil, `{"templateID":"t2"}`},
		"/templates/t2":                  {200, nil, `{"builds":[{"buildID":"b-3","status":"ready","finishedAt":"2026-01-01T00:00:00Z"},{"buildID":"b-4","status":"ready","finishedAt":"2026-02-01T00:00:00Z"},{"buildID":"b-5","status":"error","finishedAt":"2026-03-01T00:00:00Z"}]}`},
		"/templates/aliases/base":        {200, nil, `{"templateID":"t3"}`},
		"/templates/t3/tags":             {403, nil, `{"message":"of another team"}`},
		"/templates/aliases/evil":        {200, nil, `{"templateID":"../../x"}`},
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		a, ok := routes[r.URL.EscapedPath()]
		if !ok {
			a = answer{404, nil, `{}`}
		}
		a.to(w)
	})
	for name, want := range map[string]Template{
		"acme/full": {"t1", "b-2"}, "acme/full:v1": {"t1", "b-1"}, "t1": {"t1", "b-2"}, "old": {"t2", "b-4"},
	} {
		got, err := c.Resolve(t.Context(), name)
		require.NoError(t, err, name)
		require.Equal(t, want, got)
	}
	for name, kind := range map[string]error{
		"base": ErrForbidden, "nobody": ErrNotFound, "acme/full:v9": ErrNotFound, "old:v1": ErrNotFound, "evil": ErrNotFound, "a/../b": ErrNotFound,
	} {
		_, err := c.Resolve(t.Context(), name)
		require.ErrorIs(t, err, kind, name)
	}
}
