package skill

import (
	"maps"
	"slices"
	"strings"
)

// requirements are the mappings in which bundles declare what they need: requires itself, and metadata's own or nested
// one (metadata.openclaw.requires and its kin), each with the line to show.
func (b *Bundle) requirements() (out []requirement) {
	if b.requires != nil {
		out = append(out, requirement{b.requires, b.requiresLine})
	}
	for _, key := range slices.Sorted(maps.Keys(b.Metadata)) {
		m, ok := b.Metadata[key].(map[string]any)
		if !ok {
			continue
		}
		if key == "requires" {
			out = append(out, requirement{m, b.metadataLine})
		} else if inner, ok := m["requires"].(map[string]any); ok {
			out = append(out, requirement{inner, b.metadataLine})
		}
		if env, ok := m["primaryEnv"].(string); ok && env != "" {
			out = append(out, requirement{map[string]any{"env": env}, b.metadataLine})
		}
	}
	return out
}

type requirement struct {
	fields map[string]any
	line   int
}

// list is the texts under a key, written as one text or as a list.
func (r requirement) list(key string) (out []string) {
	switch v := r.fields[key].(type) {
	case string:
		out = splitTools(v)
	case []any:
		for _, item := range v {
			if s, ok := item.(string); ok && s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// declared lists the programs and environment variables that the front matter declares, sorted.
func (b *Bundle) declared() (binaries, secrets []Need) {
	for _, r := range b.requirements() {
		for _, name := range append(r.list("bins"), r.list("anyBins")...) {
			binaries = append(binaries, Need{name, KindBinary})
		}
		for _, name := range r.list("env") {
			secrets = append(secrets, Need{name, KindSecret})
		}
	}
	return unique(binaries), unique(secrets)
}

func unique(list []Need) []Need {
	slices.SortFunc(list, byNeed)
	return slices.Compact(list)
}

// declaredService is the service that a declared variable is for; there a name such as TEA_URL or TEA_USER says it too.
func declaredService(name string) string {
	if s := keyService(name); s != "" {
		return s
	}
	for _, end := range accountEnds {
		if owner, ok := strings.CutSuffix(name, end); ok && owner != "" && !nobody[owner] {
			return strings.ToLower(owner)
		}
	}
	if owner, _, ok := strings.Cut(name, "_"); ok && len(owner) > 2 && !nobody[owner] {
		return strings.ToLower(owner)
	}
	return ""
}

var accountEnds = []string{
	"_USER", "_USERNAME", "_EMAIL", "_PASSWORD", "_URL", "_HOST", "_ENDPOINT", "_CLIENT_ID", "_APP_ID",
	"_APP_SECRET", "_PASS", "_ACCOUNT", "_DOMAIN", "_REFRESH_TOKEN",
}

// keyService is the service that a variable such as NOTION_API_KEY is for; empty when the name does not say.
func keyService(name string) string {
	for _, end := range keyEnds {
		if owner, ok := strings.CutSuffix(name, end); ok && owner != "" && !nobody[owner] && !strings.HasPrefix(owner, "YOUR") {
			return strings.ToLower(strings.TrimSuffix(owner, "_API"))
		}
	}
	return ""
}

var (
	keyEnds = []string{
		"_API_KEY", "_API_TOKEN", "_API_PASSWORD", "_API_SECRET", "_ACCESS_TOKEN", "_BOT_TOKEN", "_AUTH_TOKEN",
		"_SECRET_ACCESS_KEY", "_ACCESS_KEY_ID",
		"_CLIENT_SECRET", "_SECRET_KEY", "_APP_KEY", "_TOKEN", "_KEY", "_PAT",
	}
	// nobody are words before such an end that name no service.
	nobody = set(`API MY APP ACCESS AUTH SECRET JWT SESSION REFRESH CSRF SSH PRIVATE PUBLIC PRIMARY FOREIGN ENCRYPTION NPM BEARER
		USER TEST X KEY CLIENT SERVICE EXAMPLE STATE CACHE JOY_RUN MASTER NATIVE WRAPPED SIGNING CLAUDE ID MAX`)
)
