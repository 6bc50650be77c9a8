"""Which language a file is in, and which of its lines are blank, comment or code. By name and look alone: a rough count."""

from tree import interpreter

# How comments look: prefixes of a comment line, and the pair that opens and closes a block.
C = ((b"//",), (b"/*", b"*/"))
HASH = ((b"#",), None)
MARKUP = ((), (b"<!--", b"-->"))
PLAIN = ((), None)
SQL = ((b"--",), (b"/*", b"*/"))
PERCENT = ((b"%",), None)
SEMICOLON = ((b";",), None)

# language, its comments, its extensions
TABLE = [
    ("Assembly", ((b";", b"//", b"#"), (b"/*", b"*/")), "s asm"),
    ("Batch", ((b"rem ", b"REM ", b"::"), None), "bat cmd"),
    ("C", C, "c h"), ("C#", C, "cs"), ("C++", C, "cc cpp cxx hh hpp hxx"), ("CSS", ((), C[1]), "css"),
    ("CSV", PLAIN, "csv tsv"), ("Clojure", SEMICOLON, "clj cljs cljc edn"), ("Dart", C, "dart"),
    ("Elixir", HASH, "ex exs"), ("Erlang", PERCENT, "erl hrl"), ("F#", ((b"//",), (b"(*", b"*)")), "fs fsi fsx"),
    ("Go", C, "go"), ("Go module", ((b"//",), None), "mod"), ("GraphQL", HASH, "graphql gql"), ("Groovy", C, "groovy gradle"),
    ("HCL", ((b"#", b"//"), C[1]), "tf hcl"), ("HTML", MARKUP, "html htm xhtml"),
    ("Haskell", ((b"--",), (b"{-", b"-}")), "hs"), ("INI", ((b";", b"#"), None), "ini cfg conf properties"),
    ("JSON", PLAIN, "json jsonl webmanifest"), ("Java", C, "java"), ("JavaScript", C, "js mjs cjs jsx"),
    ("Julia", ((b"#",), (b"#=", b"=#")), "jl"), ("Kotlin", C, "kt kts"), ("Lisp", SEMICOLON, "lisp el scm rkt"),
    ("Lua", ((b"--",), (b"--[[", b"]]")), "lua"), ("Make", HASH, "mk mak"), ("Markdown", MARKUP, "md markdown mdx"),
    ("Nix", ((b"#",), C[1]), "nix"), ("OCaml", ((), (b"(*", b"*)")), "ml mli"), ("Objective-C", C, "m mm"),
    ("PHP", ((b"//", b"#"), C[1]), "php"), ("Perl", HASH, "pl pm t"), ("PowerShell", ((b"#",), (b"<#", b"#>")), "ps1 psm1"),
    ("Protocol Buffers", C, "proto"), ("Python", HASH, "py pyi pyx"), ("R", HASH, "r"),
    ("Ruby", ((b"#",), (b"=begin", b"=end")), "rb rake gemspec"), ("Rust", C, "rs"), ("SCSS", C, "scss sass less"),
    ("SQL", SQL, "sql"), ("SVG", MARKUP, "svg"), ("Scala", C, "scala sc"), ("Shell", HASH, "sh bash zsh ksh fish bats"),
    ("Svelte", MARKUP, "svelte"), ("Swift", C, "swift"), ("TOML", HASH, "toml"), ("TeX", PERCENT, "tex sty cls bib"),
    ("Text", PLAIN, "txt text log rst adoc org"), ("TypeScript", C, "ts tsx mts cts"), ("Vim script", ((b'"',), None), "vim"),
    ("Vue", MARKUP, "vue"), ("XML", MARKUP, "xml xsd xsl xslt plist csproj"), ("YAML", HASH, "yaml yml"), ("Zig", ((b"//",), None), "zig"),
]
NAMED = {b"makefile": "Make", b"gnumakefile": "Make", b"dockerfile": "Dockerfile", b"containerfile": "Dockerfile",
         b"cmakelists.txt": "CMake", b"go.sum": "Checksums", b"rakefile": "Ruby", b"gemfile": "Ruby", b"jenkinsfile": "Groovy"}
BY_SHEBANG = {"sh": "Shell", "bash": "Shell", "dash": "Shell", "zsh": "Shell", "ksh": "Shell", "fish": "Shell", "node": "JavaScript",
              "deno": "TypeScript", "ruby": "Ruby", "perl": "Perl", "php": "PHP", "lua": "Lua", "make": "Make", "awk": "Awk"}

COMMENTS = {name: look for name, look, _ in TABLE} | {"Dockerfile": HASH, "CMake": HASH, "Awk": HASH}
BY_EXTENSION = {ext.encode(): name for name, _, exts in TABLE for ext in exts.split()}


def language(file):
    """The language of a text file; "Other" when neither its name nor its shebang says."""
    base = file.name.rsplit(b"/", 1)[-1].lower()
    stem, dot, ext = base.rpartition(b".")
    found = NAMED.get(base) or (BY_EXTENSION.get(ext) if dot else None) or NAMED.get(stem)
    if found:
        return found
    program = interpreter(file.data)
    return "Python" if program.startswith("python") else BY_SHEBANG.get(program, "Other")


def measure(data, name):
    """(lines, blank lines, comment lines) of text in language `name`. A last line without its newline counts."""
    lines = [line.strip() for line in data.split(b"\n")]
    if not lines[-1]:
        lines.pop()
    prefixes, block = COMMENTS.get(name, PLAIN)
    blank = lines.count(b"")
    if block and block[0] in data:
        return len(lines), blank, _with_blocks(lines, prefixes, *block)
    return len(lines), blank, sum(line.startswith(prefixes) for line in lines) if prefixes else 0


def _with_blocks(lines, prefixes, start, end):
    """Comment lines where comments may span lines: a line counts when nothing but comment is on it."""
    inside, count = False, 0
    for line in lines:
        if inside:
            count += line != b""
            inside = end not in line
        elif line.startswith(start):
            close = line.find(end, len(start))
            inside = close < 0
            count += inside or close + len(end) == len(line)
        elif prefixes and line.startswith(prefixes):
            count += 1
    return count
