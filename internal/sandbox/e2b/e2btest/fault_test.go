//go:build linux

package e2btest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFaultsOfTheControlPlane(t *testing.T) {
	k := talk(t, Options{})
	t.Run("created, and nobody learns of it", func(t *testing.T) {
		hits := k.Fault(Fault{On: Create, Times: 1, Do: CutAnswer()})
		_, err := k.do("POST", "/v2/sandboxes", map[string]string{"X-API-Key": k.Key}, `{"templateID":"base","timeout":60,"metadata":{"nonce":"n1"}}`)
		require.Error(t, err)
		require.Equal(t, 1, hits())
		require.Equal(t, "n1", k.Sandboxes()[0].Metadata["nonce"])
		k.create(plain)
		require.Equal(t, 1, hits())
	})
	t.Run("not created", func(t *testing.T) {
		had := len(k.Sandboxes())
		k.Fault(Fault{On: Create, Times: 1, Do: Cut()})
		_, err := k.do("POST", "/sandboxes", map[string]string{"X-API-Key": k.Key}, plain)
		require.Error(t, err)
		require.Len(t, k.Sandboxes(), had)
	})
	t.Run("slow", func(t *testing.T) {
		k.Fault(Fault{On: Create, Times: 1, Do: Delay(500 * time.Millisecond)})
		begun := time.Now()
		k.create(plain)
		require.Greater(t, time.Since(begun), 500*time.Millisecond)
	})
	t.Run("both 429", func(t *testing.T) {
		k.Fault(Fault{On: Create, Times: 1, Do: TooFast(1500 * time.Millisecond)})
		k.Fault(Fault{On: Create, Times: 1, Do: TooMany(20)})
		fast, many := k.api("POST", "/sandboxes", plain), k.api("POST", "/sandboxes", plain)
		is(t, 429, fast)
		is(t, 429, many)
		require.Equal(t, "2", fast.head.Get("Retry-After"))
		require.Empty(t, many.head.Get("Retry-After"))
	})
	t.Run("a kill that works at the third time", func(t *testing.T) {
		b := k.create(plain)
		k.Fault(Fault{On: Kill, Times: 2, Do: Answer(500, "Failed to kill sandbox")})
		for _, want := range []int{500, 500, 204, 404} {
			is(t, want, k.api("DELETE", "/sandboxes/"+b.ID, ""))
		}
	})
	t.Run("a heartbeat refused, the second", func(t *testing.T) {
		b := k.create(plain)
		k.Fault(Fault{On: SetTimeout, Skip: 1, Times: 1, Do: Answer(409, "Sandbox is not running")})
		for _, want := range []int{204, 409, 204} {
			is(t, want, k.api("POST", "/sandboxes/"+b.ID+"/timeout", `{"timeout":60}`))
		}
	})
	t.Run("a list that ignores the filter", func(t *testing.T) {
		k.Fault(Fault{On: List, Times: 1, Do: IgnoreFilter()})
		var all, none []listed
		require.NoError(t, json.Unmarshal([]byte(k.api("GET", "/v2/sandboxes?metadata=no%3Done", "").body), &all))
		require.NoError(t, json.Unmarshal([]byte(k.api("GET", "/v2/sandboxes?metadata=no%3Done", "").body), &none))
		require.Len(t, all, len(k.Sandboxes()))
		require.Empty(t, none)
	})
	t.Run("a list that never ends", func(t *testing.T) {
		k.Fault(Fault{On: List, Times: 2, Do: RepeatToken()})
		first := k.api("GET", "/v2/sandboxes", "")
		token := first.head.Get("X-Next-Token")
		second := k.api("GET", "/v2/sandboxes?nextToken="+token, "")
		require.Equal(t, token, second.head.Get("X-Next-Token"))
		require.Equal(t, first.body, second.body)
	})
}

func TestFaultsOfTheDataPlane(t *testing.T) {
	k := talk(t, Options{})
	b := k.create(plain)
	t.Run("an upload", func(t *testing.T) {
		k.Fault(Fault{On: Upload, Times: 1, Do: Answer(500, "no")})
		is(t, 500, b.put("path=f", "x", nil))
		is(t, 404, b.fetch("path=f", nil))
		is(t, 200, b.put("path=f", "x", nil))
	})
	t.Run("a gateway's page", func(t *testing.T) {
		k.Fault(Fault{On: Any, Times: 1, Do: AnswerPage(502)})
		a := b.call("process.Process/List", `{}`)
		is(t, 502, a)
		require.True(t, strings.HasPrefix(a.body, "<!DOCTYPE html>"))
		is(t, 200, b.call("process.Process/List", `{}`))
	})
	for name, c := range map[string]struct {
		do   Effect
		want func(t *testing.T, h heard)
	}{
		"cut before the end": {CutBeforeEnd(), func(t *testing.T, h heard) {
			require.Equal(t, "a\nb\n", h.stdout)
			require.Empty(t, h.end)
			require.False(t, h.closed)
		}},
		"cut in the middle": {CutStream(2), func(t *testing.T, h heard) {
			require.NotZero(t, h.pid)
			require.Equal(t, "a\n", h.stdout)
			require.False(t, h.closed)
		}},
		"an end without an end": {NoEnd(), func(t *testing.T, h heard) {
			require.Equal(t, "a\nb\n", h.stdout)
			require.Empty(t, h.end)
			require.True(t, h.closed)
			require.Empty(t, h.failed)
		}},
		"a flood": {Flood(1 << 20), func(t *testing.T, h heard) {
			require.Equal(t, strings.Repeat("\x00", 1<<20)+"a\nb\n", h.stdout)
			require.NotEmpty(t, h.end)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			k.Fault(Fault{On: ProcessStart, Times: 1, Do: c.do})
			l := b.open("process.Process/Start", shell(`echo a; read x; echo b`), nil)
			l.until(func(h heard) bool { return strings.HasSuffix(h.stdout, "a\n") }) // which comes in a message of its own
			is(t, 200, b.call("process.Process/SendInput", fmt.Sprintf(`{"process":{"pid":%d},"input":{"stdin":"Cg=="}}`, l.pid)))
			c.want(t, l.rest())
			again := b.open("process.Process/Connect", `{"process":{"pid":`+fmt.Sprint(l.pid)+`}}`, nil).rest()
			require.Contains(t, again.end, `"exited":true`, "the command itself ended well")
		})
	}
	t.Run("a machine lost", func(t *testing.T) {
		l := b.begin(`echo up; sleep 1000`)
		require.True(t, k.Lose(b.ID))
		require.False(t, l.rest().closed)
		a := b.call("process.Process/List", `{}`)
		is(t, http.StatusBadGateway, a)
		require.JSONEq(t, `{"sandboxId":"`+b.ID+`","message":"The sandbox was not found","code":502}`, a.body)
		is(t, 404, k.api("GET", "/sandboxes/"+b.ID, ""))
		require.False(t, k.Lose(b.ID))
	})
}
