package cli

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/runner"
)

// resultFile is what result.json holds.
type resultFile struct {
	Schema  string                `json:"schema"`
	Run     string                `json:"run"`
	Outcome string                `json:"outcome"`
	Steps   map[string]stepResult `json:"steps"`
}

type stepResult struct {
	Status    string           `json:"status"`
	Output    any              `json:"output,omitempty"`
	Artifacts []artifactResult `json:"artifacts,omitempty"`
	Failure   string           `json:"failure_kind,omitempty"`
}

type artifactResult struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (r *record) writeResult(out runner.Outcome) error {
	res := resultFile{"joy.result/1", r.run.ID, out.Status, map[string]stepResult{}}
	for _, s := range out.Steps {
		sr := stepResult{Status: s.Status, Output: s.Output}
		for _, a := range s.Artifacts {
			sr.Artifacts = append(sr.Artifacts, artifactResult{a.Name, a.Size, a.SHA256})
		}
		if s.Failure != nil {
			sr.Failure = string(s.Failure.Kind)
		}
		res.Steps[s.ID] = sr
	}
	body, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.run.Dir, "result.json"), append(body, '\n'), 0o600)
}
