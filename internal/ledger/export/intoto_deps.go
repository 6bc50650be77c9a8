package export

import (
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// dependencies are what a run was made of, each once.
type dependencies struct {
	list []resource
	seen map[string]bool
}

// add takes a dependency by a digest that is over what alg says. One without a digest says nothing that anybody could
// check, and is left out.
func (d *dependencies) add(name, sum, alg string) {
	set := named(sum, alg)
	if set == nil || d.seen[name+" "+sum] {
		return
	}
	d.seen[name+" "+sum] = true
	d.list = append(d.list, resource{Name: name, Digest: set})
}

// ran takes what an entry shows to have been used.
func (d *dependencies) ran(e verify.Entry) {
	switch e.Type {
	case "step.started":
		if e.String("skill") != "" {
			d.add("skill:"+e.String("skill"), e.String("bundle"), algBundle)
		}
		if script, ok := e.Data["script"].(map[string]any); ok {
			path, _ := script["path"].(string)
			sum, _ := script["sha256"].(string)
			d.add("setup:"+path, sum, "sha256")
		}
	case "sandbox.created":
		d.add("image", e.String("image"), algImage)
	case "tool.requested":
		d.add("tool:"+e.String("action"), e.String("tool"), "sha256")
	case "model.requested":
		d.model(e.String("provider"), e.String("model"))
	}
}

// model has no digest: nobody outside its provider could name one.
func (d *dependencies) model(provider, name string) {
	full := "model:" + strings.TrimPrefix(provider+"/"+name, "/")
	if name == "" || d.seen[full] {
		return
	}
	d.seen[full] = true
	d.list = append(d.list, resource{Name: full, Annotations: map[string]any{"provider": provider, "model": name}})
}

// planned is the plan and, where it is kept, what it pins: skills and tools that no step came to are part of it too.
func planned(run Run) *dependencies {
	d := &dependencies{seen: map[string]bool{}}
	d.add("plan", run.Report.PlanDigest, algPlan)
	p := run.Plan
	if p == nil {
		return d
	}
	d.add("joy.lock", digest.Bytes(run.Lock), "sha256")
	if p.Agent.Spec.Path != "" {
		d.add(p.Agent.Spec.Path, "sha256:"+p.Agent.Spec.SHA256, "sha256")
	}
	if p.Model != nil {
		d.model(p.Model.Provider, p.Model.Name)
	}
	if p.Setup != nil {
		d.add("setup:"+p.Setup.Run.Path, "sha256:"+p.Setup.Run.SHA256, "sha256")
	}
	for _, s := range p.Skills {
		d.add("skill:"+s.Name, s.Digest, algBundle)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Connections)) {
		c := p.Connections[name]
		for _, f := range c.Files {
			d.add("connection:"+name+":"+f.Path, "sha256:"+f.SHA256, "sha256")
		}
		for _, tool := range slices.Sorted(maps.Keys(c.Tools)) {
			d.add("tool:"+name+"."+tool, c.Tools[tool].Digest, "sha256")
		}
	}
	return d
}
