package skill

import "strings"

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
	shellLangs = set("bash sh shell zsh fish console terminal shell-session shellscript powershell ps1 pwsh bat cmd")
	codeLangs  = set(`python py python3 javascript js jsx mjs typescript ts tsx go golang rust rs java kotlin kt swift ruby rb
		php c cpp c++ csharp cs c# scala r julia perl lua dart elixir ex haskell clojure vue svelte astro solidity zig objc hcl
		terraform tf dockerfile docker makefile make cmake groovy gdscript glsl wgsl nix matlab latex tex typst razor cuda func`)
	configLangs = set(`yaml yml toml ini xml html css scss less jsonc json5 nginx env dotenv properties graphql proto prisma
		diff patch sql promql`)
	sqlOpeners  = []string{"select ", "insert ", "with ", "from ", "where ", "create ", "update ", "delete "}
	codeOpeners = []string{
		"import ", "from ", "def ", "class ", "const ", "let ", "function ", "public ", "private ", "#include",
		"package ", "async ", "export ", "func ", "fn ", "return ",
	}
)

// commandNames begin a line that is meant to be run; ambiguous ones begin sentences too and count only where more of a
// command is in the rest.
var (
	commandNames = set(`git gh npm npx pnpm yarn bun bunx node deno python python3 pip pip3 pipx uv uvx poetry conda pytest ruff
		mypy cargo rustc rustup go gofmt golangci-lint make cmake ninja bazel gcc g++ clang docker docker-compose podman kubectl
		helm terraform tofu pulumi ansible ansible-playbook vagrant curl wget jq yq sed awk grep rg fd find cat ls cd mkdir cp mv
		rm chmod touch tar unzip zip head tail pandoc soffice libreoffice ffmpeg ffprobe convert magick pdftotext pdftoppm qpdf
		tesseract aws gcloud az vercel wrangler netlify supabase firebase heroku fly bash sh zsh source sudo export dotnet msbuild
		mvn gradle ./gradlew java javac ruby bundle rake rails gem php composer artisan psql mysql sqlite3 redis-cli mongosh ssh
		scp rsync brew apt apt-get tsc tsx eslint prettier vite vitest jest playwright cypress xcodebuild swift flutter dart adb nx
		turbo openssl gpg systemctl crontab tmux rscript julia forge cast anvil solc agent-browser claude codex gemini opencode
		semgrep codeql trivy nmap latexmk pdflatex duckdb dbt nargo cdk sam stripe clawdbot openclaw modal hf kaggle latch gog`)
	ambiguous = set(`make find go source export convert cast head tail touch cat bundle turbo forge claude codex gemini swift
		dart fly julia cd ls stripe sam modal openclaw clawdbot latch`)
	installing = []string{
		" install ", " i -g", " npm ci ", " mcp add", " brew ", " apt ", " apt-get ", " pip ", " npm create ",
		" plugin ", " skills add", " git clone ",
	}
	connecting = []string{
		"mcp add", "mcp install", "mcp login", "mcp auth", "skill add", "skills add", "skill install",
		"skills install", "plugin marketplace", "plugin install", "plugin add", "/plugin ", "/mcp ", "clawhub ", "clawdhub ",
		"codex --enable", "claude --plugin-dir", " mcp client",
	}
)

// Headings and words that say what a part is to the reader.
var (
	setupHeadings = []string{
		"setup", "set up", "set-up", "install", "prerequisite", "requirements", "getting started",
		"before you start", "before you begin",
		"configuration", "authenticat", "connecting", "troubleshooting",
	}
	optionalHeadings = []string{
		"supercharged", "related", "see also", "further reading", "troubleshoot", "resources",
		"links", "alternative",
	}
	optionalWords = []string{
		"optional", "if connected", "if available", "when available", "if you have", "if connectors",
		"is connected:", "is connected,", "are connected", "where available", "if configured", "fall back", "fallback",
		"if installed",
	}
	avoidHeadings = []string{"when not to", "do not use", "don't use", "out of scope", "what not to", "non-goals", "does not do"}
	shunning      = []string{"do not", "don't", "don’t", "never", "when not to"}
	dispatching   = []string{"dispatch", "launch", "spawn", "sub-agent", "subagent", "task tool"}
	spokenLangs   = map[string]bool{"": true, "markdown": true, "md": true, "text": true}
	sampleMarks   = []string{"❌", "✅", "✗", "✓", "👎", "👍"} // such a line shows what is good or bad
	noTools       = []string{
		"you have no tools", "no tool calls", "calls no tool", "never call a tool", "makes no calls itself",
		"do not call any tool", "do not attempt any tool call", "no tools are available", "without any tool",
	}
)

// leads are words after which an instruction may begin in the middle of a line.
var leads = set("then to always next first finally must should and or please when before after while by")

// subordinate begins a clause that says when, and ends with a comma.
var subordinate = set("as when whenever if once after before while")

// Verbs and nouns of instructions. Descriptions of what others do ("the file is read") are no instructions.
var (
	fileVerbs = set(`read open load parse extract inspect scan create write save edit modify rewrite append generate render
		export convert merge rename move delete remove copy scaffold format compress crop resize transcribe
		unpack update produce build re-read reread overwrite maintain editing writing reading creating modifying processing`)
	fileNouns = set(`file files folder folders directory directories codebase codebases repo worktree worktrees pdf pdfs docx
		xlsx pptx csv csvs spreadsheet spreadsheets workbook workbooks slides deck notebook notebooks dockerfile
		package.json html svg image images screenshot screenshots video audio zip script scripts`)
	ownTexts = set("reference guideline guidelines matching that playbook rule")
	// documentVerbs with documentNouns in a description: the skill is carried out on files.
	documentVerbs = set(`audit analyze analyse check review fill clean merge split convert extract read parse transform edit create
		creates generate generates build process crop resize compress transcribe record download combine verify audits analyzes
		processes converts extracts`)
	documentNouns = set(`spreadsheet spreadsheets workbook workbooks xlsx pdf pdfs docx pptx powerpoint csv image images video videos
		audio recordings notebook notebooks codebase repository`)
	codeVerbs = set(`write create build implement refactor edit modify update rewrite writing implementing creating fix
		change review
		test debug`)
	codeThings = set(`module modules component components endpoint endpoints migration migrations
		code tests`)
	lookVerbs = set(`review analyze analyse audit examine explore inspect search scan read study investigate refactor implement
		edit change modify fix resolve commit stage locate`)
	codeNouns = set(`codebase codebases repo repository repositories code-base diff commits hunk hunks working-tree source-code logs
		workspace`)
	runVerbs = set("run execute launch compile invoke start rerun re-run evaluate running executing")
	runNouns = set(`script scripts command commands test tests suite linter linters server programs program container
		typecheck simulation simulations code benchmark benchmarks scanner analyzer`)
	// otherTests are run on people and texts.
	otherTests = []string{"a/b test", "split test", "usability test", "user test", "no-op test", "multivariate", "copy test", "business cycle"}
	// whereThere say that a file is read only where somebody has left one.
	whereThere = []string{" exists", "if present"}
	pathVerbs  = set(`save saves saved write writes written output outputs store stored append add create creates update edit
		read reads load open generate generates check copy put place saving writing updating documenting
		maintain maintains`)
	workTools = set(`bash shell execute exec write edit multiedit notebookedit run run_command run_terminal computer
		str_replace_editor`)
)

// What a description says that is about software.
var (
	devVerbs = set(`develop develops developing build builds building implement implements implementing write writes writing
		debug debugs debugging refactor refactors refactoring test tests testing create creates creating configure configures
		configuring migrate migrates migrating optimize optimizes optimizing optimising instrument setup
		generate generates generating review reviews reviewing add adding fix fixes fixing profile scaffold scaffolds integrate
		integrating operate operating deploy deploys deploying install installing verify verifies edit editing audit auditing contributing embedding embed embeds`)
	runningVerbs = set("run runs running execute executes executing")
	adviceVerbs  = set(`choose plan decide compare explain brainstorm recommend advise draft interview answer summarize turn
		route start`)
	// techTerms make a description one about software as soon as it is about making something.
	makingVerbs = set(`implement implements implementing implementation build builds building develop developing development
		configure configuring integrate integration embedding coding coder developer`)
	techTerms = set(`sdk rag websocket websockets microservices mtls oauth coding coder arduino lwc apex flutter react android ios
		unity unreal xcode .net node.js devops gitops embeddings retrieval vector graphql grpc webhooks webview monoliths`)
	// programmedWith beside guidelineWords in a description: a skill on how code is written is carried out on code.
	programmedWith = set(`javascript typescript python ruby rust golang java kotlin swift swiftui php c# c++ scala elixir haskell
		react vue svelte angular next.js nextjs node.js nestjs django fastapi flask rails laravel flutter tailwind prisma
		drizzle analytics.js refactoring .net blazor css html5 webgl bash powershell`)
	guidelineWords = set(`patterns pattern principles practices guidelines conventions idioms standards integration refactoring master
		expert migration upgrade optimization code maintainability documented`)
	devNouns = set(`code codebase codebases app apps application applications component components api apis sdk server servers
		pipeline pipelines frontend backend website websites script scripts plugin plugins test tests software
		library package packages function functions module modules repl react vue svelte angular
		next.js node.js typescript javascript python rust golang java kotlin swift swiftui flutter django fastapi rails laravel
		terraform kubernetes helm docker dockerfile ci/cd bug bugs endpoint endpoints
		repository ui extension extensions bot bots game games monorepo monorepos workspace
		workspaces caching observability tracing authentication infrastructure hooks webhooks
		wrapper wrappers codec codecs middleware integrations chatbot chatbots`)
)

// Formats that only a program writes, as extension and as a name.
var (
	officeFormats  = set("docx xlsx pptx pdf png svg jpg jpeg gif mp4 mp3 wav csv ipynb html zip")
	officePrograms = set("excel word")
	officeNouns    = set("workbook workbooks document documents doc spreadsheet spreadsheets")
	inFormat       = []string{"(excel)", "(powerpoint)", "(excel workbook)", "(pptx)", "(xlsx)", "(docx)"}
	officeNames    = set("powerpoint pptx docx xlsx")
	fileExts       = set(`md txt json jsonl yaml yml csv tsv html htm py js ts jsx tsx sh pdf docx xlsx pptx png jpg svg toml xml css
		sql ipynb lock env log go rs java swift kt rb php c cpp h cs vue tf ini cfg conf db sqlite`)
	needWords    = set("require requires required need needs designed")
	environments = set(`python python3 node node.js npm bash shell cli sdk git docker uv pip linux macos java jdk rust
		cargo go ffmpeg installed install binary toolkit compiler gpu cuda`)
	referenceDirs = set("references reference resources")
)
