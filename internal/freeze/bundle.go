package freeze

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Card is what a bundle says of itself.
type Card struct {
	Name, Description, License string
	Input, Output              json.RawMessage // schemas; nil: none
	Entry                      string          // path of the script in the bundle
}

// SkillFile is the SKILL.md of the bundle: what it does, what it takes and gives, and where it is from. Values are written as
// JSON, which is YAML.
func (c Card) SkillFile(step, run, skill string) []byte {
	var b strings.Builder
	line := func(key string, value any) {
		raw, _ := json.Marshal(value) // texts and checked JSON always marshal
		fmt.Fprintf(&b, "%s: %s\n", key, yamlSafe.Replace(string(raw)))
	}
	b.WriteString("---\n")
	line("name", c.Name)
	line("description", c.Description)
	if c.License != "" {
		line("license", c.License)
	}
	line("metadata", map[string]string{"joy.entry": c.Entry})
	if len(c.Input) > 0 {
		line("input_schema", c.Input)
	}
	if len(c.Output) > 0 {
		line("output_schema", c.Output)
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n`%s` does what a model did in step `%s` of run `%s`, where it followed the skill `%s`. No model is asked any more.\n"+
		"It was made by `joy freeze`. Every place that has to be looked at says REVIEW.\n", c.Name, c.Entry, step, run, skill)
	return []byte(b.String())
}

// yamlSafe escapes what ends a line in YAML and not in JSON.
var yamlSafe = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`, "\u007f", `\u007f`, "\ufeff", `\ufeff`)
