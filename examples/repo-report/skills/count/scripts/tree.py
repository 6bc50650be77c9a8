"""Reads the files of a tar, plain or gzip, in one pass and without unpacking it.

The one rule: nothing in the archive can write a file, be followed, or make this process hold more than MAX_FILE bytes
of content and MAX_NAMES bytes of names, whatever the archive says of itself.
"""

from header import Header, pax
from unpack import Broken, Source, TooBig

MAX_FILE = 4 << 20        # bytes of one file's content that are looked at; of a larger file only the first HEAD are
MAX_MEMBERS = 100_000     # members of any type
MAX_NAME = 1024           # bytes of one name
MAX_NAMES = 16 << 20      # bytes of all names, of link targets, and of the directories that names imply
MAX_META = 1 << 20        # bytes of one extended header
HEAD = 8000               # bytes in which a NUL makes a file binary, as git has it


FILE, DIRECTORY, LINK, SPECIAL = range(4)


class File:
    """One regular file. `data` is its content, or only its head when `whole` is false."""

    __slots__ = ("name", "mode", "size", "data", "whole", "binary")

    def __init__(self, name, mode, size, data):
        self.name, self.mode, self.size, self.data = name, mode, size, data
        self.whole = len(data) == size
        self.binary = data.find(b"\0", 0, HEAD) >= 0


class Tree:
    """A walk of one archive. All but `path` is complete once files() has ended."""

    def __init__(self, path):
        self.path = path
        self.names = set()        # regular files, as clean() gives them
        self.dirs = {b""}         # directories, also those that only a file's name implies
        self.links = {}           # symbolic and hard links: name -> target; never followed here
        self.unsafe = []          # names that clean() refuses, as they came
        self.special = 0          # devices, pipes, sparse files: not looked at
        self.oversized = 0        # files looked at only by their head
        self.repeated = 0         # later members of a name already seen: not looked at
        self.revision = None      # the commit that `git archive` notes in the global header
        self.incomplete = None    # why the walk stopped early, in words; None when it did not
        self._name_bytes = 0

    def files(self):
        """Yields each regular file once, in the archive's order. Raises Broken when the archive cannot be read."""
        with open(self.path, "rb") as file:
            try:
                yield from self._members(Source(file))
            except TooBig as big:
                self.incomplete = str(big)

    def prefix(self):
        """The one directory that holds everything, with its slash (b"joy-1.0/"), or b""."""
        tops = {name.split(b"/", 1)[0] for name in (*self.names, *self.links)}
        alone = len(tops) == 1 and not tops & self.names and not tops & self.links.keys()
        return tops.pop() + b"/" if alone else b""

    def _members(self, source):
        extra = {}
        for _ in range(MAX_MEMBERS):
            block = source.read(512)
            if block is None or block.count(0) == 512:
                return
            header = Header(block)
            kind, size = header.kind, int(extra.get(b"size", header.size))
            if kind in b"xgLK":
                data = meta(source, size, header.name)
                if kind == b"g":
                    self.revision = pax(data).get(b"comment", b"").decode("ascii", "replace")[:64] or None
                elif kind == b"x":
                    extra.update(pax(data))
                else:
                    extra[b"path" if kind == b"L" else b"linkpath"] = data.split(b"\0", 1)[0]
                continue
            found = self._member(source, header, size, extra)
            if found:
                yield found
            extra = {}
        raise TooBig(f"more than {MAX_MEMBERS:,} members")

    def _member(self, source, header, size, extra):
        raw = extra.get(b"path", header.name)
        name, what = clean(raw), what_it_is(header.kind, raw, extra)
        target = extra.get(b"linkpath", header.link)[:MAX_NAME] if what == LINK else b""
        self._spend(len(raw) + len(target))
        if name is None or not name and what != DIRECTORY:
            self.unsafe.append(raw[:MAX_NAME])
        elif what == LINK:
            self.links.setdefault(name, target)
        elif what == DIRECTORY:
            self._imply(name + b"/")
        elif what == SPECIAL:
            self.special += 1
        elif name in self.names:
            self.repeated += 1
        else:
            return self._file(source, name, header.mode, size)
        source.skip(0 if what == LINK else size)
        return None

    def _file(self, source, name, mode, size):
        keep = size if size <= MAX_FILE else HEAD
        data = source.exactly(keep)
        source.skip(size - keep, size % 512)
        self.oversized += keep != size
        self.names.add(name)
        self._imply(name)
        return File(name, mode, size, data)

    def _imply(self, name):
        cut = name.rfind(b"/")
        while cut > 0 and name[:cut] not in self.dirs:
            self.dirs.add(name[:cut])
            self._spend(cut)
            cut = name.rfind(b"/", 0, cut)

    def _spend(self, size):
        self._name_bytes += size
        if self._name_bytes > MAX_NAMES:
            raise TooBig(f"more than {MAX_NAMES >> 20} MiB of names")


def what_it_is(kind, raw, extra):
    if kind in b"12":
        return LINK
    if kind == b"5" or kind in b"0\0" and raw.endswith(b"/"):    # before POSIX, a directory was a name with a slash
        return DIRECTORY
    sparse = any(key.startswith(b"GNU.sparse") for key in extra)
    return FILE if kind in b"07\0" and not sparse else SPECIAL


def meta(source, size, name):
    if size > MAX_META:
        raise Broken(f"the extended header {show(name)} is larger than {MAX_META >> 20} MiB")
    data = source.exactly(size)
    source.skip(0, size % 512)
    return data


def clean(raw):
    """A member's name without empty and "." parts; None for one that is absolute, climbs, is too long or holds a NUL."""
    parts = raw.split(b"/")
    if b".." in parts or raw[:1] == b"/" or len(raw) > MAX_NAME or b"\0" in raw:
        return None
    return raw if b"" not in parts and b"." not in parts else b"/".join(p for p in parts if p not in (b"", b"."))


def show(raw):
    """Bytes as text that is safe to print: no control or format characters, no broken UTF-8, and still distinct."""
    text = raw.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def interpreter(data):
    """The program a shebang names, without its directory ("bash"), or ""."""
    if data[:2] != b"#!":
        return ""
    words = data[2:256].split(b"\n", 1)[0].split()
    if words and words[0].endswith(b"/env"):
        words = [w for w in words[1:] if w[:1] != b"-" and b"=" not in w]
    return words[0].rsplit(b"/", 1)[-1].decode("ascii", "replace") if words else ""
