"""Reads the links and anchors of one Markdown file, leaving out code and comments. Every step is linear in the text:
the file is a stranger's, and a pattern that backtracks would be a way to stop the report.

After CommonMark 0.31 (links 6.3, code spans 6.1, fences 4.5) and, for anchors, what GitHub makes of a heading.
"""

import re

MAX_LINE = 20_000    # characters; a longer line is not read for links
MAX_LINKS = 5_000    # of one file

ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}")
TICKS = re.compile(r"(`+)")
# After "](": a target in angle brackets, or one without spaces whose parentheses pair.
TARGET = re.compile(r"[ \t]{0,8}+(?:<([^<>]{0,1000}+)>|((?:[^\s()\\]|\\.|\([^\s()]{0,500}+\)){0,1000}+))(?=[ \t)]|$)")
DEFINITION = re.compile(r"\[([^\]\[^][^\]\[]{0,200})\]:[ \t]*(?:<([^<>]{0,1000}+)>|(\S{1,1000}+))")
LABEL = re.compile(r"\]\[([^\]\[]{0,200}+)\]")
HTML_LINK = re.compile(r"""<(?:a|img)\s[^<>]{0,500}?\b(?:href|src)=["']([^"'<>]{1,1000})["']""", re.I)
HTML_ID = re.compile(r"""\b(?:id|name)=["']([^"'<>\s]{1,200})["']""", re.I)
HEADING_ID = re.compile(r"\{#([\w.:-]{1,200})\}\s*$")
LINKED = re.compile(r"!?\[([^\]\[]{0,300}+)\](?:\([^()]{0,500}+\)|\[[^\]\[]{0,200}+\])")
NOT_IN_SLUG = re.compile(r"[^\w\- ]")


class Page:
    def __init__(self):
        self.anchors = set()    # lower case
        self.links = []         # (line, target as written)
        self.undefined = []     # (line, label) of references to a definition that is not there


def read(text):
    page, labels, defined, slugs = Page(), [], set(), {}
    above = ""
    for number, line in prose(text):
        bare = line.lstrip(" \t>")
        item = ITEM.match(bare)
        bare = bare[item.end():] if item else bare
        heading = atx(bare) if bare[:1] == "#" else None
        if heading is not None:
            anchor(page, heading, slugs)
        elif above and bare[:1] in ("=", "-") and not bare.strip(bare[0]):
            anchor(page, above, slugs)
        above = "" if heading is not None or item or bare[:1] == "|" else bare
        if "id=" in line or "name=" in line:
            page.anchors.update(found.lower() for found in HTML_ID.findall(line))
        if "](" in line or "]:" in line or "][" in line or "<" in line:
            links_of(number, uncode(bare), page, labels, defined)
    page.undefined = [(number, label) for number, label in labels if fold(label) not in defined]
    return page


def links_of(number, line, page, labels, defined):
    definition = DEFINITION.match(line) if line[:1] == "[" else None
    if definition:
        defined.add(fold(definition[1]))
        page.links.append((number, definition[2] if definition[2] is not None else definition[3]))
        return
    at = line.find("](")
    while at >= 0 and len(page.links) < MAX_LINKS:
        target = TARGET.match(line, at + 2)
        if target and line[at - 1:at] != "\\":
            page.links.append((number, target[2] if target[1] is None else target[1]))
        at = line.find("](", at + 2)
    for match in LABEL.finditer(line):
        start = line.rfind("[", max(0, match.start() - 500), match.start())
        before = line[start - 1] if start > 0 else " "
        text = line[start + 1:match.start()]
        written = not (before.isalnum() or before in "_])\\") and match[1] != text    # not a[i][j], not [tab][tab]
        label = match[1] or text
        if start >= 0 and written and label[:1] != "^" and len(labels) < MAX_LINKS:
            labels.append((number, label))
    page.links += [(number, target) for target in HTML_LINK.findall(line)] if "<" in line else []


def prose(text):
    """(number, line) of the lines that are not front matter, fenced or indented code, or comments."""
    lines = text.split("\n")
    start = front_matter(lines)
    fence, comment, listed, blank = "", False, False, True
    for number, line in enumerate(lines[start:], start + 1):
        bare = line.lstrip(" \t>")
        item = ITEM.match(bare)
        run = bare[item.end():] if item else bare
        ticks = len(run) - len(run.lstrip(run[:1])) if run[:3] in ("```", "~~~") else 0
        if fence:
            if ticks >= len(fence) and run[0] == fence[0] and not run[ticks:].strip():
                fence = ""
            continue
        if ticks and not comment and not (run[0] == "`" and "`" in run[ticks:]):
            fence = run[:ticks]
            continue
        if comment or "<!--" in line:
            line, comment = uncomment(line, comment)
        indented = line[:4] == "    " or line[:1] == "\t"
        listed = bool(item) or listed and (indented or not line.strip() or line[:1] == " ")
        if not (indented and blank and not listed) and len(line) <= MAX_LINE:
            blank = not line.strip()
            yield number, line.rstrip()


def front_matter(lines):
    """How many lines of YAML stand between `---` lines at the top."""
    if lines[0].rstrip() != "---":
        return 0
    return next((i + 1 for i, line in enumerate(lines[1:500], 1) if line.rstrip() == "---"), 0)


def uncomment(line, inside):
    """The line without its HTML comments, and whether one is still open."""
    kept, at = [], 0
    while at < len(line):
        mark = "-->" if inside else "<!--"
        cut = line.find(mark, at)
        if not inside:
            kept.append(line[at:cut] if cut >= 0 else line[at:])
        if cut < 0:
            break
        at, inside = cut + len(mark), not inside
    return "".join(kept), inside


def uncode(line):
    """The line with each code span taken out: from a run of backticks to the next run as long."""
    if "`" not in line:
        return line
    parts = TICKS.split(line)    # text, run, text, run, …
    last = {run: i for i, run in enumerate(parts) if i % 2}
    kept, i = [], 0
    while i < len(parts):
        if i % 2 and last[parts[i]] > i:
            run, i = parts[i], i + 2
            while parts[i] != run:
                i += 2
        else:
            kept.append(parts[i])
        i += 1
    return " ".join(kept)


def atx(line):
    """The text of a `## heading`, or None when the line is none."""
    text = line.lstrip("#")
    if len(line) - len(text) > 6 or text[:1] not in ("", " ", "\t"):
        return None
    text = text.strip()
    closed = text.rstrip("#")
    return closed if closed[-1:] in ("", " ", "\t") else text


def anchor(page, heading, slugs):
    """Adds the anchors a heading gets; the second one of a name gets -1, as on GitHub."""
    own = HEADING_ID.search(heading)
    if own:
        page.anchors.add(own[1].lower())
    text = LINKED.sub(r"\1", heading).replace("`", "").replace("*", "").strip().lower()
    slug = NOT_IN_SLUG.sub("", text).replace(" ", "-")
    seen = slugs[slug] = slugs.get(slug, -1) + 1
    page.anchors.add(f"{slug}-{seen}" if seen else slug)


def fold(label):
    return " ".join(label.split()).casefold()
