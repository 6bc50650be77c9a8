package image

import "slices"

// recipe is what an image of Debian has beyond Debian's minimum.
type recipe struct {
	summary  string   // for a person
	packages []string // of Debian; what they only recommend is left out
	without  []string // directories of theirs to leave out
	npm      []npmPackage
	uv       bool
	hooks    []string // after everything is there; $1 is the root
}

var recipes = map[string]recipe{
	"base": {
		summary:  "python3, git, curl, jq, ca-certificates",
		packages: basePackages,
	},
	"full": {
		summary:  "Python with pip and venv, LibreOffice, pandoc, poppler, fonts, matplotlib",
		packages: slices.Concat(basePackages, pythonPackages, documentPackages, fontPackages, toolPackages),
		without:  []string{"/usr/share/unicode"}, // 37 MB that fonttools was built from
		npm:      []npmPackage{nodePackage, npmItself},
		uv:       true,
		hooks:    fullHooks,
	},
}

// basePackages are in base and in full.
var basePackages = []string{"python3", "git", "curl", "jq", "ca-certificates"}

// pythonPackages are what scripts of skills import. munkres and unicodedata2 are there because fonttools, which
// matplotlib needs, would else bring scipy and with it a C++ compiler: 90 MB to download that nobody asked for.
var pythonPackages = []string{
	"python3-pip", "python3-venv", "python3-matplotlib", "python3-munkres", "python3-unicodedata2", "python3-pandas",
	"python3-yaml", "python3-openpyxl", "python3-xlsxwriter", "python3-docx", "python3-pypdf", "python3-pdfminer", "python3-reportlab",
	"python3-requests", "python3-bs4", "python3-jinja2",
}

// documentPackages make and read documents. LibreOffice is the one without a window system.
var documentPackages = []string{
	"pandoc", "libreoffice-writer-nogui", "libreoffice-calc-nogui", "libreoffice-impress-nogui", "poppler-utils", "qpdf", "librsvg2-bin",
}

// fontPackages: Carlito and Caladea have the widths of Calibri and Cambria, so that an office document keeps its pages;
// Droid has Chinese, Japanese and Korean in 7 MB where Noto takes 90.
var fontPackages = []string{
	"fontconfig", "fonts-liberation", "fonts-dejavu-core", "fonts-crosextra-carlito", "fonts-crosextra-caladea", "fonts-droid-fallback",
}

var toolPackages = []string{
	"zip", "unzip", "bzip2", "xz-utils", "file", "less", "procps", "sqlite3", "ripgrep", "patch", "make",
}

// fullHooks leave out what nobody runs and keep what every first program would else make again.
//
// Both caches know a directory by its time, which squash changes where the build made it: so the fonts' directories get
// a time of their own first. matplotlib writes its list in the order of a Python set.
var fullHooks = []string{
	`find "$1/usr/lib/python3/dist-packages" -depth -type d -name tests -exec rm -rf {} +`, // 120 MB of other people's tests
	`find "$1"/usr/share/fonts* "$1/usr/local/share/fonts" -type d -exec touch -d 1980-01-01T00:00:00Z {} +`,
	`chroot "$1" fc-cache -f -s`,
	`chroot "$1" env -i PATH=/usr/bin HOME=/root PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 python3 -c 'import matplotlib.font_manager'`,
	`printf 'update-notifier=false\n' > "$1/usr/local/lib/node_modules/npm/npmrc"`, // there is nothing to ask
}
