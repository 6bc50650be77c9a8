package skill

import (
	"path"
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

var (
	shellLangs = set("bash sh shell zsh fish console terminal shell-session powershell ps1 pwsh bat cmd")
	codeLangs  = set(`python py python3 javascript js jsx mjs typescript ts tsx go golang rust rs java kotlin kt swift ruby rb php c cpp c++
		csharp cs c# scala r julia perl lua dart elixir ex haskell clojure vue svelte astro solidity zig objc hcl terraform tf
		dockerfile docker makefile make cmake groovy gdscript glsl wgsl nix matlab latex tex typst razor`)
	configLangs = set("yaml yml toml ini xml html css scss less jsonc json5 nginx env dotenv properties graphql proto prisma diff patch")

	// commands begin a line that is meant to be run. Words that also begin sentences (make, find, sort, go) count only
	// where codeLike sees more of a command in the rest.
	commands = set(`git gh npm npx pnpm yarn bun bunx node deno python python3 pip pip3 pipx uv uvx poetry conda pytest ruff mypy
		cargo rustc rustup go gofmt golangci-lint make cmake ninja bazel gcc g++ clang docker docker-compose podman kubectl helm terraform tofu
		pulumi ansible ansible-playbook vagrant curl wget jq yq sed awk grep rg fd find cat ls cd mkdir cp mv rm chmod touch tar unzip zip head tail
		pandoc soffice libreoffice ffmpeg ffprobe convert magick pdftotext pdftoppm qpdf tesseract aws gcloud az vercel wrangler netlify
		supabase firebase heroku fly bash sh zsh source sudo export dotnet msbuild mvn gradle ./gradlew java javac ruby bundle rake rails gem php
		composer artisan psql mysql sqlite3 redis-cli mongosh ssh scp rsync brew apt apt-get tsc tsx eslint prettier vite vitest jest
		playwright cypress xcodebuild swift flutter dart adb nx turbo openssl gpg systemctl crontab tmux rscript julia forge cast anvil solc
		agent-browser claude codex gemini opencode semgrep codeql trivy nmap latexmk pdflatex duckdb dbt`)
	ambiguous = set("make find go source export convert cast head tail touch cat bundle turbo forge claude codex gemini swift dart fly julia cd ls")

	// connecting lines make a connector known to somebody's agent; they are no part of carrying the skill out.
	connecting = regexp.MustCompile(`(?i)\bmcp (add|install|login|auth)\b|\bskills? (add|install)\b|^\$?\s*/(plugin|mcp)\b|\bplugin (marketplace|install|add)\b`)

	fileNouns = `files?|folders?|director(?:y|ies)|codebases?|code base|source code|repo|repos|repositor(?:y|ies)|worktrees?|pdfs?|docx?|xlsx?|pptx?|csvs?|spreadsheets?|workbooks?|slides?|slide decks?|` +
		`notebooks?|modules?|classes|components?|unit tests?|test files?|dockerfile|package\.json|\.env|artifact|html|svg|images?|screenshots?|video|audio|zip|archives?`
	fileVerbs = `read|open|load|parse|extract|inspect|scan|create|write|save|edit|modify|rewrite|append|generate|render|export|convert|merge|split|rename|move|delete|remove|copy|refactor|implement|scaffold|build|format|compress|crop|resize|transcribe|unpack|update`

	lead     = `(?i)(?:^|[.:;]\s+|\bthen\s+|\bto\s+)[\s>*_#-]*(?:\d+[.)]\s*)?(?:\*\*)?(?:step \d+[:.]?\s*)?(?:always |next,? |first,? |finally,? |you (?:must|should) )?`
	fileWork = regexp.MustCompile(lead + `(?:` + fileVerbs + `)\b[^.;]{0,60}?\b(?:` + fileNouns + `)\b`)
	writeTo  = regexp.MustCompile(`(?i)\b(?:save|write|written|saved|output|store|append|add|create|update|edit|read|load|open|generate)\w*\b[^.;]{0,60}` + "`[^`]*(?:/[^`]*|\\.(?:md|txt|json|ya?ml|csv|html?|py|[jt]sx?|sh|pdf|docx|xlsx|pptx|png|svg|toml))`")
	runProse = regexp.MustCompile(lead + `(?:run|execute|launch|compile|install|start|invoke|build|deploy)\b[^.;]{0,50}?\b(?:scripts?|commands?|tests?|test suite|build|linters?|server|programs?|code|cli|binary|package|container|app|application|project)\b`)
	purpose  = regexp.MustCompile(`(?i)\b(?:` + fileVerbs + `|writ|creat|edit|generat|build|refactor|implement|debug|test|review|deploy|automat|migrat|optimi[sz])(?:ing|es|s|ed)?\b[^.;]{0,60}\b(?:` + fileNouns + `|code|apps?|applications?|scripts?|websites?|frontend|backend|servers?|projects?|pipelines?|workflows?|documents?)\b`)
	toolWork = regexp.MustCompile(`(?i)^(bash|shell|execute|exec|write|edit|multiedit|notebookedit|run_?\w*|computer)\b`)
)

func trimLine(s string) string { return strings.TrimSpace(s) }

func matchEntry(b *Bundle) []sight {
	if b.Entry == nil {
		return nil
	}
	return []sight{{b.Entry.Line, b.Entry.Path}}
}

func matchCandidates(b *Bundle) (out []sight) {
	for i, c := range b.Candidates {
		out = append(out, sight{c.Line, b.candidatePaths[i]})
	}
	return out
}

// lines collects the lines a predicate holds for, until a rule has enough.
func (b *Bundle) lines(holds func(line) bool) (out []sight) {
	for _, l := range b.doc.lines {
		if holds(l) {
			if out = append(out, sight{l.no, trimLine(l.text)}); len(out) == maxSights {
				break
			}
		}
	}
	return out
}

func matchShell(b *Bundle) []sight {
	return b.lines(func(l line) bool { return !l.setup() && shellLine(l) })
}

func matchSetup(b *Bundle) []sight {
	return b.lines(func(l line) bool { return l.setup() && shellLine(l) })
}

// shellLine reports a line of a fence that somebody would type. A fence without a language needs a prompt or a known
// command: it may be sample output.
func shellLine(l line) bool {
	text := trimLine(l.text)
	if l.kind != code || text == "" || strings.HasPrefix(text, "#") || connecting.MatchString(text) {
		return false
	}
	if shellLangs[l.lang] {
		return true
	}
	typed, prompt := strings.CutPrefix(text, "$ ")
	return l.lang == "" && (prompt || commandLine(typed))
}

func matchCode(b *Bundle) []sight {
	return b.lines(func(l line) bool { return l.kind == code && codeLangs[l.lang] && trimLine(l.text) != "" })
}

func matchConfig(b *Bundle) []sight {
	return b.lines(func(l line) bool { return l.kind == code && configLangs[l.lang] && trimLine(l.text) != "" })
}

func matchInline(b *Bundle) []sight {
	return b.lines(func(l line) bool {
		if !l.instruction() || l.setup() {
			return false
		}
		for _, s := range l.spans {
			if commandLine(s) && !connecting.MatchString(s) {
				return true
			}
		}
		return false
	})
}

// commandLine reports text that begins with a known command and goes on like one.
func commandLine(s string) bool {
	words := strings.Fields(s)
	if len(words) < 2 {
		return len(words) == 1 && strings.HasPrefix(s, "./") && path.Ext(s) != ".md"
	}
	first := words[0]
	if strings.HasPrefix(first, "./") || strings.HasSuffix(first, ".sh") {
		return true
	}
	return commands[first] && (!ambiguous[first] || strings.ContainsAny(s[len(first):], "-./|>$*"))
}

func matchFileWork(b *Bundle) []sight {
	return b.lines(func(l line) bool {
		return l.instruction() && !l.setup() && (fileWork.MatchString(l.text) || len(l.spans) > 0 && writeTo.MatchString(l.text))
	})
}

func matchRunProse(b *Bundle) []sight {
	return b.lines(func(l line) bool { return l.instruction() && !l.setup() && runProse.MatchString(l.text) })
}

func matchPurpose(b *Bundle) []sight {
	if m := purpose.FindString(b.Description); m != "" {
		return []sight{{b.descriptionLine, m}}
	}
	return nil
}

func matchTools(b *Bundle) []sight {
	for _, t := range b.AllowedTools {
		if toolWork.MatchString(t) {
			return []sight{{b.toolsLine, t}}
		}
	}
	return nil
}

var runVerb = regexp.MustCompile(`(?i)\b(?:run|runs|running|execute|invoke|call|launch|use|using|via)\b`)

// runs reports that a line runs the bundled script p: in a block, in a command between backquotes, or named with a
// verb that runs things.
func runs(l line, p string) bool {
	if l.kind == comment || !names(l.text, p) {
		return false
	}
	if l.kind == code {
		typed, prompt := strings.CutPrefix(trimLine(l.text), "$ ")
		return shellLangs[l.lang] || l.lang == "" && (prompt || commandLine(typed))
	}
	for _, s := range l.spans {
		if names(s, p) && len(strings.Fields(s)) > 1 && commandLine(s) {
			return true
		}
	}
	return runVerb.MatchString(l.text)
}

// names reports p in text as a whole path, whatever directory stands before it.
func names(text, p string) bool {
	for rest := text; ; {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		before, after := i == 0 || !wordByte(rest[i-1]), rest[i+len(p):]
		if before && (after == "" || !wordByte(after[0]) && !(after[0] == '/')) {
			return true
		}
		rest = after
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
