package rules_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret/rules"
)

// find looks at a text that comes in pieces as cut says, remembering no more than a finder asks for.
func find(text string, cut func() int) (found []rules.Span) {
	f := rules.Default().Finder()
	all := []byte("\n" + text)
	seen, from, base := 1, 1, 0
	for {
		seen = min(seen+cut(), len(all))
		got := f.Find(all[base:seen], from-base, seen == len(all))
		for _, s := range got.Spans {
			found = append(found, rules.Span{Rule: s.Rule, Start: base + s.Start - 1, End: base + s.End - 1})
		}
		from = base + got.Decided
		base = max(0, from-rules.Before-1)
		if seen == len(all) {
			return found
		}
	}
}

func whole(text string) []rules.Span { return find(text, func() int { return len(text) + 1 }) }

func names(found []rules.Span) (list []string) {
	for _, s := range found {
		list = append(list, s.Rule)
	}
	return list
}

// Each kind is found, exactly the token and nothing around it, in whatever pieces it comes.
func TestEachKindIsFoundHoweverItIsCut(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.rule, func(t *testing.T) {
			found := whole(s.text())
			at := slices.IndexFunc(found, func(x rules.Span) bool { return x.Rule == s.rule })
			require.GreaterOrEqual(t, at, 0, "found only %v", names(found))
			require.Equal(t, s.token, strings.TrimRight(s.text()[found[at].Start:found[at].End], "'\"\r"))
			for _, n := range []int{1, 2, 3, 7, 64, 1000} {
				require.Equal(t, found, find(s.text(), func() int { return n }), "pieces of %d", n)
			}
		})
	}
}

// What looks like a secret and is none.
func TestWhatIsNoSecret(t *testing.T) {
	for name, text := range map[string]string{
		"a commit":              "commit " + random(1, 40, hexa) + "\n",
		"a digest named a key":  "cache_key: sha256:" + random(2, 64, hexa) + "\napi_key = \"" + random(3, 64, hexa) + "\"\n",
		"a UUID of a token":     "token_id = 014df517-39d1-4453-b7b3-9930c563627d\nkey=\"0b21c5f8-77aa-4e7c-9d5c-4a66b4e5c7a1\"\n",
		"a module":              "github.com/docker/docker-credential-helpers v0.9.3 h1:gAm/VtF9wgqJMoxzT3Gj5p4AqIjCBS4wrsOh9yRqcz8=\n",
		"an issue":              "https://linear.app/acme/issue/ENG-42/fix-the-key-of-abc123\n",
		"the next page":         `{"items":[],"nextPageToken":"` + random(4, 40, alnum) + `","sort_key":"` + random(5, 20, alnum) + `"}`,
		"an example of AWS":     "AKI" + "AIOSFODNN7EXAMPLE\n",
		"a variable":            "token = $GITHUB_TOKEN\npassword: ${{ secrets.DB_PASSWORD }}\n",
		"a name of another":     "config.PrivateKey = testRSA2048PrivateKey\n",
		"of one character":      "password = aaaaaaaaaaaaaaaaaaaa\n",
		"prose":                 "the key to the api is that access tokens are short-lived, and a secret is told once\n",
		"a public key":          "-----BEGIN PUBLIC KEY-----\n" + random(6, 64, alnum) + "\n-----END PUBLIC KEY-----\n",
		"a place for a token":   "curl -H \"Authorization: Bear" + "er YOUR_API_KEY\" -H 'x-key: your-birdeye-key' x\ncurl -u \"$STRIPE_KEY:\" x\ncurl -u CLIENT_ID:CLIENT_SECRET x\n",
		"a key with dots":       "api_key = \"sk-...\"\ntoken: \"eyJ" + random(51, 20, alnum) + "...\"\napi_key=\"sk-1234567890abcdef\"\n\"apiKey\": \"sk" + "_live_xxxxxxxxxxxx\"\n",
		"the token of jwt.io":   "jwt ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + random(52, 43, alnum) + "\n",
		"an address of a coin":  "SELL_TOKEN=\"0x" + random(53, 40, hexa) + "\"\n",
		"pieces of a text":      "tokenizer_model_name: qwen2.5-vl-7b\n",
		"patterns of a scanner": "r'-----BEGIN RSA " + "PRIVATE KEY-----',\n    r'-----BEGIN DSA " + "PRIVATE KEY-----', r'-----BEGIN EC " + "PRIVATE KEY-----'\n",
		"a prefix with nothing": "gh" + "p_\nsk-a" + "nt-\nxo" + "xb-\n",
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, whole(text)) })
	}
}

// What looks like a placeholder by half is a secret.
func TestWhatIsNoPlaceholder(t *testing.T) {
	for name, text := range map[string]string{
		"a user with a password": "curl -u bob:swordfish https://x.example\n",
		"dots in the middle":     "api_key = \"" + random(1, 12, alnum) + "..." + random(2, 12, alnum) + "\"\n",
		"a row in a long one":    "jwt ey" + "J" + random(3, 40, alnum) + ".ey" + "J" + random(4, 60, alnum) + "abc123." + random(5, 43, alnum) + "\n",
	} {
		t.Run(name, func(t *testing.T) { require.NotEmpty(t, whole(text)) })
	}
}

// Lines end what belongs together, but for a key in PEM and a command that goes on.
func TestLines(t *testing.T) {
	token := random(7, 30, alnum)
	require.Empty(t, whole("password\n=\n"+token+"\n"))
	require.Equal(t, []string{"curl-auth-header"}, names(whole("curl -s \\\n  -H \"Authorization: Bear"+"er "+token+"\" https://x.example\n")))
	require.Equal(t, []string{"github-pat"}, names(whole("A=1\x00B=gh"+"p_"+random(8, 36, alnum)+"\x00C=2")), "NUL ends a line")
}

// gitleaks' comment that allows a finding is a stranger's word.
func TestNoCommentAllowsAFinding(t *testing.T) {
	require.Equal(t, []string{"github-pat"}, names(whole("gh"+"p_"+random(9, 36, alnum)+" # gitleaks:"+"allow\n")))
}

// Whatever the text, what is found does not depend on its pieces, and nothing is told twice or beyond the text.
func FuzzFind(f *testing.F) {
	for i, s := range samples() {
		f.Add(s.text()+s.text(), uint64(i))
	}
	f.Add("key=key=key=key=\\\n=key curl \\\n -u a:bcd \x00 ey0.ey1.", uint64(3))
	f.Add("curl -u joe:swordfish x; curl -u curl:\"ann: -u b:cdefgh\" -H 'Authorization: abcdefgh1'", uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		text = strings.Repeat(text, 1+int(seed%3))
		want := whole(text)
		rng := rand.New(rand.NewPCG(seed, 1))
		require.Equal(t, want, find(text, func() int { return 1 + rng.IntN(1+rng.IntN(300)) }))
		for _, s := range want {
			require.True(t, 0 <= s.Start && s.Start < s.End && s.End <= len(text))
		}
	})
}
