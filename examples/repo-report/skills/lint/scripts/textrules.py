"""The rules that look at one file at a time. They search for bytes first and use a pattern only where those are found:
most files have nothing, and under emulation every pass over the text is felt."""

import re

from tree import HEAD, show

LARGE = 1 << 20    # bytes from which a binary file is large for a source tree
CRLF_IS_RIGHT = (b".bat", b".cmd", b".ps1", b".sln")

MARKS = (b"TODO", b"FIXME", b"XXX", b"HACK")
# A mark stands alone and something follows: not in `TODO`, "TODO", XXXXXX, TODO/FIXME or "XXX and HACK".
MARK = re.compile(rb"""(?<![\w/"'`|.$-])(?:TODO|FIXME|XXX|HACK)(?=[:(]|[ \t]+(?!and\b|or\b)[\w(]|[ \t]*\r?$)""", re.M)
# What stands before it on its line: nothing, or something that opens a comment in some language.
COMMENT = re.compile(rb"""^[ \t]*\*?[ \t]*$|#|//|/\*|--|;|%|<!--|\{-|\(\*|\"""|'''|\brem\b|^[ \t]*["']""", re.I)
MARK_IN_PROSE = re.compile(rb"""(?<![\w/"'`|.$-])(?:TODO|FIXME|XXX|HACK)(?=[:(])""")    # prose also talks about them
CONFLICT = re.compile(rb"^<<<<<<< ", re.M)
CONTROLS = [bytes([byte]) for byte in (1, 2, 3, 4, 5, 6, 14, 15, 16)]
SPACE_AT_END = (b" \n", b"\t\n", b" \r\n", b"\t\r\n")


def look(file, found):
    """Adds what is wrong with one regular file. `found` is a Findings."""
    if file.binary:
        if file.size >= LARGE:
            found.add("large-binary", file.name, 0, f"{file.size / (1 << 20):.1f} MiB")
        return
    if not file.whole:
        return
    data, name = file.data, file.name
    if file.mode & 0o111 and data[:2] != b"#!" and data:
        found.add("no-shebang", name, 0, f"mode {file.mode & 0o777:04o}")
    ends = data.count(b"\r\n")
    if ends and not name.lower().endswith(CRLF_IS_RIGHT):
        lines = data.count(b"\n")
        found.add("crlf", name, 0, "every line" if ends == lines else f"{ends:,} of {lines:,} lines")
    prose = name.lower().endswith((b".md", b".markdown"))
    if not prose:     # there, two spaces at the end break a line
        spaces = sum(map(data.count, SPACE_AT_END))
        if spaces:
            found.add("trailing-space", name, 0, f"{spaces:,} line{'s' if spaces > 1 else ''}")
    if not data.isascii():
        not_utf8(file, found)
    if any(mark in data for mark in MARKS):
        for line, text in matches(MARK_IN_PROSE if prose else MARK, data, None if prose else COMMENT):
            found.add("todo", name, line, text)
    if b"<<<<<<< " in data and b"\n>>>>>>> " in data:
        for line, text in matches(CONFLICT, data):
            found.add("merge-conflict", name, line, text)


def not_utf8(file, found):
    if any(file.data.find(control, 0, HEAD) >= 0 for control in CONTROLS):
        return    # not text in another encoding but data that happens to hold no NUL
    try:
        file.data.decode("utf-8")
    except UnicodeDecodeError as err:
        found.add("not-utf8", file.name, file.data.count(b"\n", 0, err.start) + 1, f"byte 0x{file.data[err.start]:02x}")


def matches(pattern, data, before=None):
    """(line, the rest of the line from the match on), once a line, where what stands before it matches `before`."""
    line, at = 1, 0
    for match in pattern.finditer(data):
        newlines = data.count(b"\n", at, match.start())
        if at and not newlines:
            continue
        line, at = line + newlines, match.start()
        if before is None or before.search(data[max(data.rfind(b"\n", 0, at) + 1, at - 500):at]):
            yield line, show(data[at:at + 500].split(b"\n", 1)[0].strip())
