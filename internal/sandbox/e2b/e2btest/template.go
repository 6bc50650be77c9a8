package e2btest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// template is what sandboxes are made from. It has one name, one build and, once built, the tag "default".
type template struct {
	name  string
	build int // counts builds; each has an id of its own
	at    time.Time
}

// TemplateID is the id of the template of that name. It never changes.
func TemplateID(name string) string {
	sum := sha256.Sum256([]byte("template " + name))
	return strings.ToLower(hex.EncodeToString(sum[:10]))
}

// buildID is a UUID, as E2B's are.
func (t *template) buildID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "build %d of %s", t.build, t.name))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:]
}

// Build is the id of the build that a template's name stands for now.
func (s *Server) Build(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.template(name); t != nil {
		return t.buildID()
	}
	return ""
}

// Rebuild gives a template a new build, as its owner does by building it again: what was pinned has drifted.
func (s *Server) Rebuild(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.template(name); t != nil {
		t.build++
		t.at = time.Now()
	}
}

// template finds one by name or id, with its tag or without. The caller holds the mutex.
func (s *Server) template(name string) *template {
	base, tag, tagged := strings.Cut(name, ":")
	for _, t := range s.templates {
		if (base == t.name || base == TemplateID(t.name)) && (!tagged || tag == defaultTag) {
			return t
		}
	}
	return nil
}

const defaultTag = "default"

// getTemplate answers for templates/ID, templates/ID/tags and templates/aliases/NAME.
func (s *Server) getTemplate(w http.ResponseWriter, r *http.Request) error {
	name, answer := r.PathValue("id"), (*template).whole
	switch more := r.PathValue("more"); {
	case name == "aliases" && more != "":
		name, answer = more, (*template).alias
	case more == "tags":
		answer = (*template).tags
	case more != "":
		return refuse(http.StatusNotFound, "no matching operation was found")
	}
	s.mu.Lock()
	t := s.template(name)
	if t == nil || strings.Contains(name, ":") {
		s.mu.Unlock()
		return refuse(http.StatusNotFound, "template '%s' not found", name)
	}
	body := answer(t)
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, body)
	return nil
}

func (t *template) alias() any {
	return map[string]any{"templateID": TemplateID(t.name), "public": false}
}

func (t *template) tags() any {
	return []any{map[string]any{"tag": defaultTag, "buildID": t.buildID(), "createdAt": t.at.UTC()}}
}

func (t *template) whole() any {
	return map[string]any{
		"templateID": TemplateID(t.name), "public": false, "aliases": []string{t.name}, "names": []string{t.name},
		"createdAt": t.at.UTC(), "updatedAt": t.at.UTC(), "lastSpawnedAt": nil, "spawnCount": 0,
		"builds": []any{map[string]any{
			"buildID": t.buildID(), "status": "ready", "createdAt": t.at.UTC(), "updatedAt": t.at.UTC(), "finishedAt": t.at.UTC(),
			"cpuCount": 2, "memoryMB": 512, "diskSizeMB": 512, "envdVersion": DaemonVersion,
		}},
	}
}
