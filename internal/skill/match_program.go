package skill

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// ownSources are the sources of a program that the bundle's package.json makes and that the text runs by its name.
func (j *judge) ownSources() (out []string) {
	for _, f := range j.b.Files {
		if path.Base(f.Path) != "package.json" || !j.runsOneOf(programsOf(j.b.Contents[f.Path])) {
			continue
		}
		dir := path.Dir(f.Path)
		for _, s := range j.b.Files {
			inside := dir == "." || strings.HasPrefix(s.Path, dir+"/")
			if inside && slices.Contains(programSources, path.Ext(s.Path)) {
				out = append(out, s.Path)
			}
		}
	}
	return out
}

// programsOf are the names under which a package of npm installs its programs
// (https://docs.npmjs.com/cli/configuring-npm/package-json#bin); none when the file is no such package.
func programsOf(packageJSON []byte) (names []string) {
	var p struct {
		Name string          `json:"name"`
		Bin  json.RawMessage `json:"bin"`
	}
	if json.Unmarshal(packageJSON, &p) != nil || p.Bin == nil {
		return nil
	}
	bins := map[string]string{}
	if json.Unmarshal(p.Bin, &bins) != nil {
		return []string{path.Base(p.Name)}
	}
	for name := range bins {
		names = append(names, name)
	}
	return names
}

func (j *judge) runsOneOf(names []string) bool {
	if len(names) == 0 {
		return false
	}
	for i := range j.b.doc.lines {
		for _, c := range j.b.doc.lines[i].commands {
			if slices.Contains(names, fetched(c.words)[0]) {
				return true
			}
		}
	}
	return false
}
