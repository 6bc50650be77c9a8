package page

import (
	"crypto/sha256"
	_ "embed" // what the page is made of
	"encoding/base64"
	"html/template"

	"github.com/joystream-ai/joy/internal/term"
)

//go:embed page.css
var cssText string

//go:embed page.js
var jsText string

//go:embed page.tmpl
var pageText string

// The style and the script are joy's own, and go into the page as they are: the policy names their hashes.
var (
	style  = template.CSS(cssText) //nolint:gosec // embedded
	script = template.JS(jsText)   //nolint:gosec // embedded

	templates = template.Must(template.New("page").Funcs(template.FuncMap{
		"visible": line, "lines": term.Escape, "script": func() template.JS { return script },
	}).Parse(pageText))
)

// policy is the page's Content-Security-Policy (https://www.w3.org/TR/CSP3/): whatever else there may be in the page, the
// browser loads nothing, sends nothing, and applies only this style and this script.
var policy = "default-src 'none'; style-src " + source(cssText) + "; script-src " + source(jsText) +
	"; img-src data:; base-uri 'none'; form-action 'none'"

func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
