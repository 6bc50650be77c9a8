//go:build linux

package e2btest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCreateRefuses(t *testing.T) {
	k := talk(t, Options{})
	for name, c := range map[string]struct {
		body   string
		v1, v2 int
	}{
		"not JSON":             {`{`, 400, 400},
		"no template":          {`{}`, 400, 400},
		"unknown template":     {`{"templateID":"other"}`, 404, 400},
		"timeout 0":            {`{"templateID":"base","timeout":0}`, 400, 400},
		"timeout below 0":      {`{"templateID":"base","timeout":-1}`, 400, 400},
		"beyond the longest":   {`{"templateID":"base","timeout":3601}`, 400, 400},
		"timeout no number":    {`{"templateID":"base","timeout":"60"}`, 400, 400},
		"metadata no strings":  {`{"templateID":"base","metadata":{"n":1}}`, 400, 400},
		"to be paused":         {`{"templateID":"base","autoPause":true}`, 400, 400},
		"to be resumed":        {`{"templateID":"base","autoResume":{"enabled":true}}`, 400, 400},
		"a volume":             {`{"templateID":"base","volumeMounts":[{"name":"v","path":"/v"}]}`, 400, 400},
		"a name, not the rest": {`{"templateID":"base","network":{"allowOut":["example.com"]}}`, 400, 400},
		"a name denied":        {`{"templateID":"base","network":{"denyOut":["example.com"]}}`, 400, 400},
	} {
		t.Run(name, func(t *testing.T) {
			is(t, c.v1, k.api("POST", "/sandboxes", c.body))
			is(t, c.v2, k.api("POST", "/v2/sandboxes", c.body))
		})
	}
	t.Run("no public traffic without a secret", func(t *testing.T) {
		is(t, 400, k.api("POST", "/sandboxes", `{"templateID":"base","network":{"allowPublicTraffic":false}}`))
	})
	t.Run("not as JSON", func(t *testing.T) {
		a, err := k.do("POST", "/v2/sandboxes", map[string]string{"X-API-Key": k.Key, "Content-Type": "text/plain"}, plain)
		require.NoError(t, err)
		is(t, 400, a)
	})
	for name, key := range map[string]string{"no key": "", "another key": "e2b_" + strings.Repeat("0", 40)} {
		t.Run(name, func(t *testing.T) {
			a, err := k.do("POST", "/v2/sandboxes", map[string]string{"X-API-Key": key}, plain)
			require.NoError(t, err)
			is(t, 401, a)
			require.Contains(t, a.body, `"code":401`)
		})
	}
	require.Empty(t, k.Sandboxes())
}

// The two versions differ in what they take for granted.
func TestCreateVersions(t *testing.T) {
	k := talk(t, Options{})
	for path, want := range map[string]struct {
		lease  time.Duration
		secret bool
	}{"/sandboxes": {15 * time.Second, false}, "/v2/sandboxes": {300 * time.Second, true}} {
		t.Run(path, func(t *testing.T) {
			a := k.api("POST", path, `{"templateID":"base","metadata":{"by":"`+path+`"},"unknown":1}`)
			is(t, 201, a)
			b := &box{talker: k}
			require.NoError(t, json.Unmarshal([]byte(a.body), b))
			require.Regexp(t, `^i[a-z0-9]{19}$`, b.ID)
			require.Equal(t, want.secret, b.Token != "")
			live := k.Sandboxes()[0]
			require.Equal(t, want.lease, live.End.Sub(live.Started))
			require.Equal(t, path, live.Metadata["by"])
			is(t, 204, k.api("DELETE", "/sandboxes/"+b.ID+"-6532622b", "")) // as old ids are
		})
	}
	t.Run("nobody from outside", func(t *testing.T) {
		a := k.api("POST", "/v2/sandboxes", `{"templateID":"base","network":{"allowPublicTraffic":false,"allowOut":["a.example"],"denyOut":["0.0.0.0/0"]}}`)
		is(t, 201, a)
		require.Regexp(t, `"trafficAccessToken":"[0-9a-f]{40}"`, a.body)
	})
}

func TestUnknownSandbox(t *testing.T) {
	k := talk(t, Options{})
	for request, body := range map[string]string{
		"GET ": "", "DELETE ": "", "POST /timeout": `{"timeout":60}`, "POST /refreshes": `{"duration":60}`,
		"POST /connect": `{"timeout":60}`, "POST /resume": "", "POST /pause": "", "POST /fork": "",
	} {
		method, rest, _ := strings.Cut(request, " ")
		a := k.api(method, "/sandboxes/i0000000000000000000"+rest, body)
		is(t, 404, a)
		require.Contains(t, a.message(), "not found", request)
	}
}

func TestNeverPaused(t *testing.T) {
	k := talk(t, Options{})
	b := k.create(plain)
	is(t, 409, k.api("POST", "/sandboxes/"+b.ID+"/resume", `{}`))
	for _, rest := range []string{"/pause", "/fork", "/snapshots"} {
		is(t, 501, k.api("POST", "/sandboxes/"+b.ID+rest, `{}`))
	}
}

func TestLease(t *testing.T) {
	const longest = 1000 * time.Second
	k := talk(t, Options{Longest: longest})
	b := k.create(`{"templateID":"base","timeout":600}`)
	end := func() time.Time { return k.Sandboxes()[0].End }
	at := "/sandboxes/" + b.ID
	sets := func(status int, path, body string, want time.Duration) {
		begun := time.Now()
		is(t, status, k.api("POST", path, body))
		require.WithinRange(t, end(), begun.Add(want), time.Now().Add(want))
	}
	leaves := func(status int, path, body string) {
		was := end()
		is(t, status, k.api("POST", path, body))
		require.Equal(t, was, end())
	}
	sets(204, at+"/timeout", `{"timeout":700}`, 700*time.Second)
	sets(204, at+"/timeout", `{"timeout":200}`, 200*time.Second) // shortens
	leaves(204, at+"/refreshes", `{"duration":15}`)              // does not
	sets(204, at+"/refreshes", `{"duration":400}`, 400*time.Second)
	leaves(200, at+"/connect", `{"timeout":20}`) // does not
	sets(200, "/v2"+at+"/connect", `{"timeout":700}`, 700*time.Second)
	is(t, 204, k.api("POST", at+"/timeout", `{"timeout":5000}`)) // cut down, and not said
	require.Equal(t, longest, end().Sub(k.Sandboxes()[0].Started))
	is(t, 400, k.api("POST", at+"/connect", `{"timeout":5000}`))
	is(t, 400, k.api("POST", at+"/connect", ``))
	is(t, 400, k.api("POST", at+"/timeout", `{}`))
	is(t, 400, k.api("POST", at+"/timeout", `{"timeout":-1}`))
	is(t, 400, k.api("POST", at+"/refreshes", `{"duration":3601}`))

	is(t, 204, k.api("POST", at+"/timeout", `{"timeout":0}`)) // now
	eventually(t, func() bool { return len(k.Sandboxes()) == 0 })
	is(t, 404, k.api("GET", at, ""))
	is(t, 404, k.api("POST", at+"/timeout", `{"timeout":60}`))
}

func TestExpires(t *testing.T) {
	k := talk(t, Options{})
	t.Run("as it was made", func(t *testing.T) {
		b := k.create(`{"templateID":"base","timeout":1}`)
		eventually(t, func() bool { return k.api("GET", "/sandboxes/"+b.ID, "").status == 404 })
	})
	t.Run("under a command", func(t *testing.T) {
		b := k.create(plain)
		l := b.begin(`echo up; sleep 1000`)
		is(t, 204, k.api("POST", "/sandboxes/"+b.ID+"/timeout", `{"timeout":1}`))
		require.False(t, l.rest().closed, "the stream is cut")
		is(t, 404, k.api("GET", "/sandboxes/"+b.ID, ""))
	})
}

func TestTooManyAndTooFast(t *testing.T) {
	k := talk(t, Options{Most: 1})
	b := k.create(plain)
	a := k.api("POST", "/sandboxes", plain)
	is(t, 429, a)
	require.Contains(t, a.message(), "maximum number of concurrent E2B sandboxes (1)")
	require.Empty(t, a.head.Get("Retry-After"))
	is(t, 204, k.api("DELETE", "/sandboxes/"+b.ID, ""))
	k.create(plain)

	k = talk(t, Options{Rate: 1})
	is(t, 200, k.api("GET", "/v2/sandboxes", ""))
	for { // the second may have turned
		if a = k.api("GET", "/v2/sandboxes", ""); a.status != http.StatusOK {
			break
		}
	}
	is(t, 429, a)
	require.Equal(t, "1", a.head.Get("Retry-After"))
	require.Equal(t, "0", a.head.Get("RateLimit-Remaining"))
	require.Equal(t, "Rate limit exceeded", a.message())
}

func TestList(t *testing.T) {
	k := talk(t, Options{Skew: time.Hour})
	var ids []string
	for _, metadata := range []string{`{"owner":"a","n":"1"}`, `{"owner":"b"}`, `{"owner":"a","n":"x=y&z"}`} {
		ids = append(ids, k.create(`{"templateID":"base","timeout":60,"metadata":`+metadata+`}`).ID)
	}
	get := func(query string) []string {
		a := k.api("GET", query, "")
		is(t, 200, a)
		date, err := http.ParseTime(a.head.Get("Date"))
		require.NoError(t, err)
		require.InDelta(t, time.Hour, time.Until(date), float64(time.Minute))
		var list []listed
		require.NoError(t, json.Unmarshal([]byte(a.body), &list))
		got := []string{}
		for _, l := range list {
			require.Equal(t, "running", l.State)
			require.InDelta(t, time.Hour, time.Until(l.StartedAt), float64(time.Minute), "the server's clock is ahead")
			got = append(got, l.SandboxID)
		}
		return got
	}
	twice := func(filter string) string { return url.QueryEscape(filter) }
	for query, want := range map[string][]string{
		"/v2/sandboxes":                                                         {ids[2], ids[1], ids[0]},
		"/v2/sandboxes?order=asc":                                               ids,
		"/v2/sandboxes?metadata=" + twice("owner=a"):                            {ids[2], ids[0]},
		"/v2/sandboxes?metadata=" + twice("owner=a&n=1"):                        {ids[0]},
		"/v2/sandboxes?metadata=" + twice(twice("n="+url.QueryEscape("x=y&z"))): {ids[2]},
		"/v2/sandboxes?metadata=" + twice("owner=c"):                            {},
		"/v2/sandboxes?state=paused":                                            {},
		"/v2/sandboxes?state=running,paused&template=" + TemplateID("base"):     {ids[2], ids[1], ids[0]},
		"/v2/sandboxes?template=other":                                          {},
		"/v2/sandboxes?startedAfter=2026-01-01T00:00:00Z":                       {ids[2], ids[1], ids[0]},
		"/v2/sandboxes?startedAfter=2226-01-01T00:00:00Z":                       {},
		"/sandboxes?metadata=" + twice("owner=b"):                               {ids[1]},
		"/sandboxes": {ids[2], ids[1], ids[0]},
	} {
		require.Equal(t, want, get(query), query)
	}
	for _, query := range []string{
		"limit=0", "limit=101", "limit=x", "state=gone", "order=up", "startedAfter=today", "nextToken=x", "metadata=owner",
		"metadata=" + twice("n=x=y"),
	} {
		is(t, 400, k.api("GET", "/v2/sandboxes?"+query, ""))
	}

	var paged []string
	for token, pages := "", 1; ; pages++ {
		a := k.api("GET", "/v2/sandboxes?limit=2&order=asc&nextToken="+url.QueryEscape(token), "")
		is(t, 200, a)
		require.Equal(t, "3", a.head.Get("X-Total-Running"))
		var list []listed
		require.NoError(t, json.Unmarshal([]byte(a.body), &list))
		for _, l := range list {
			paged = append(paged, l.SandboxID)
		}
		if token = a.head.Get("X-Next-Token"); token == "" {
			require.Equal(t, 2, pages)
			break
		}
	}
	require.Equal(t, ids, paged)
}

func TestTemplates(t *testing.T) {
	k := talk(t, Options{Templates: []string{"base", "acme/joy"}})
	id := TemplateID("acme/joy")
	a := k.api("GET", "/templates/aliases/acme%2Fjoy", "")
	is(t, 200, a)
	require.JSONEq(t, `{"templateID":"`+id+`","public":false}`, a.body)
	first := k.Build("acme/joy")
	require.Contains(t, k.api("GET", "/templates/"+id+"/tags", "").body, `"buildID":"`+first+`"`)
	k.Rebuild("acme/joy")
	require.NotEqual(t, first, k.Build("acme/joy"))
	require.Contains(t, k.api("GET", "/templates/"+id, "").body, `"buildID":"`+k.Build("acme/joy")+`"`)
	for _, path := range []string{"/templates/none", "/templates/aliases/none", "/templates/none/tags", "/templates/aliases/base:default"} {
		is(t, 404, k.api("GET", path, ""))
	}
	for _, name := range []string{"acme/joy", "acme/joy:default", id, id + ":default"} {
		k.create(`{"templateID":"` + name + `","timeout":60}`)
	}
	is(t, 400, k.api("POST", "/v2/sandboxes", `{"templateID":"acme/joy:other"}`))
	for _, sb := range k.Sandboxes() {
		require.Equal(t, id, sb.Template)
	}
}
