package skill

import (
	"regexp"
	"strings"
)

// set makes a lookup of words.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// Languages of fences, by what a reader does with such a block. What is in none of the three (json, text, markdown,
// sql, mermaid) is data or sample output.
var (
	shellLangs = set("bash sh shell zsh fish console terminal shell-session powershell ps1 pwsh bat cmd")
	codeLangs  = set(`python py python3 javascript js jsx mjs typescript ts tsx go golang rust rs java kotlin kt swift ruby rb
		php c cpp c++ csharp cs c# scala r julia perl lua dart elixir ex haskell clojure vue svelte astro solidity zig objc hcl
		terraform tf dockerfile docker makefile make cmake groovy gdscript glsl wgsl nix matlab latex tex typst razor`)
	configLangs = set(`yaml yml toml ini xml html css scss less jsonc json5 nginx env dotenv properties graphql proto prisma
		diff patch`)
)

// commands begin a line that is meant to be run; ambiguous ones begin sentences too and count only where commandLine
// sees more of a command in the rest.
var (
	commands = set(`git gh npm npx pnpm yarn bun bunx node deno python python3 pip pip3 pipx uv uvx poetry conda pytest ruff
		mypy cargo rustc rustup go gofmt golangci-lint make cmake ninja bazel gcc g++ clang docker docker-compose podman kubectl
		helm terraform tofu pulumi ansible ansible-playbook vagrant curl wget jq yq sed awk grep rg fd find cat ls cd mkdir cp mv
		rm chmod touch tar unzip zip head tail pandoc soffice libreoffice ffmpeg ffprobe convert magick pdftotext pdftoppm qpdf
		tesseract aws gcloud az vercel wrangler netlify supabase firebase heroku fly bash sh zsh source sudo export dotnet msbuild
		mvn gradle ./gradlew java javac ruby bundle rake rails gem php composer artisan psql mysql sqlite3 redis-cli mongosh ssh
		scp rsync brew apt apt-get tsc tsx eslint prettier vite vitest jest playwright cypress xcodebuild swift flutter dart adb nx
		turbo openssl gpg systemctl crontab tmux rscript julia forge cast anvil solc agent-browser claude codex gemini opencode
		semgrep codeql trivy nmap latexmk pdflatex duckdb dbt`)
	ambiguous = set(`make find go source export convert cast head tail touch cat bundle turbo forge claude codex gemini swift
		dart fly julia cd ls`)
)

// Parts of the patterns below. lead is where an instruction begins: the start of a line, a list item, a sentence, or
// after "then" or "to". Descriptions of what others do ("the file is read") are not instructions and do not match.
const (
	lead = `(?i)(?:^|[.:;]\s+|\bthen\s+|\bto\s+)[\s>*_#-]*(?:\d+[.)]\s*)?(?:\*\*)?(?:step \d+[:.]?\s*)?` +
		`(?:always |next,? |first,? |finally,? |you (?:must|should) )?`
	fileVerbs = `read|open|load|parse|extract|inspect|scan|create|write|save|edit|modify|rewrite|append|generate|render|export|` +
		`convert|merge|split|rename|move|delete|remove|copy|refactor|implement|scaffold|build|format|compress|crop|resize|` +
		`transcribe|unpack|update`
	fileNouns = `files?|folders?|director(?:y|ies)|codebases?|code base|source code|repo|repos|repositor(?:y|ies)|worktrees?|` +
		`pdfs?|docx?|xlsx?|pptx?|csvs?|spreadsheets?|workbooks?|slides?|slide decks?|notebooks?|modules?|classes|components?|` +
		`unit tests?|test files?|dockerfile|package\.json|\.env|artifact|html|svg|images?|screenshots?|video|audio|zip|archives?`
	runNouns = `scripts?|commands?|tests?|test suite|build|linters?|server|programs?|code|cli|binary|package|container|app|` +
		`application|project`
	workNouns = `code|apps?|applications?|scripts?|websites?|frontend|backend|servers?|projects?|pipelines?|workflows?|documents?`
	workStems = `writ|creat|edit|generat|build|refactor|implement|debug|test|review|deploy|automat|migrat|optimi[sz]`
	fileExts  = `md|txt|json|ya?ml|csv|html?|py|[jt]sx?|sh|pdf|docx|xlsx|pptx|png|svg|toml`
)

// Patterns. A gap between verb and noun stays inside one clause and is short, or "open the talk … the file" matches.
var (
	fileWork = regexp.MustCompile(lead + `(?:` + fileVerbs + `)\b[^.;]{0,60}?\b(?:` + fileNouns + `)\b`)
	runProse = regexp.MustCompile(lead + `(?:run|execute|launch|compile|install|start|invoke|build|deploy)\b[^.;]{0,50}?\b(?:` +
		runNouns + `)\b`)

	// writeTo is a path between backquotes after a word for putting something there or taking it from there.
	writeTo = regexp.MustCompile(`(?i)\b(?:save|write|written|output|store|append|add|create|update|edit|read|load|open|generate)\w*\b` +
		"[^.;]{0,60}`[^`]*(?:/[^`]*|\\.(?:" + fileExts + "))`")

	// purpose is work on code or files in a description.
	purpose = regexp.MustCompile(`(?i)\b(?:` + fileVerbs + `|` + workStems + `)(?:ing|es|s|ed)?\b[^.;]{0,60}\b(?:` +
		fileNouns + `|` + workNouns + `)\b`)

	// connecting lines make a connector known to somebody's agent; they are no part of carrying the skill out.
	connecting = regexp.MustCompile(`(?i)\bmcp (add|install|login|auth)\b|\bskills? (add|install)\b|^\$?\s*/(plugin|mcp)\b|` +
		`\bplugin (marketplace|install|add)\b`)

	// toolWork are the tools of common agents that need a machine to work on.
	toolWork = regexp.MustCompile(`(?i)^(bash|shell|execute|exec|write|edit|multiedit|notebookedit|run_?\w*|computer)\b`)

	runVerb = regexp.MustCompile(`(?i)\b(?:run|runs|running|execute|invoke|call|launch|use|using|via)\b`)
)
