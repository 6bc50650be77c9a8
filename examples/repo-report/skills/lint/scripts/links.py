"""Where the links of Markdown files and the symbolic links of the tree lead. Looks only at the archive's names:
nothing is followed on a disk, nothing outside is contacted."""

import re

from markdown import read
from tree import show

MAX_LINKS = 50_000    # of all files

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:|//")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
TEMPLATE = ("{{", "${", "{%", "<%")    # a generator fills it in


class Links:
    def __init__(self):
        self.checked = 0      # links into the tree
        self.external = 0     # links to elsewhere, not followed
        self._pages = {}      # name of a Markdown file -> Page
        self._count = 0

    def look(self, file):
        if file.name.lower().endswith((b".md", b".markdown")) and file.whole and self._count < MAX_LINKS:
            page = self._pages[file.name] = read(file.data.decode("utf-8", "surrogateescape"))
            self._count += len(page.links) + len(page.undefined)

    def finish(self, tree, found):
        """Checks what was collected, once every name of the tree is known."""
        places = Places(tree)
        for name, page in self._pages.items():
            for line, label in page.undefined:
                found.add("broken-link", name, line, f"[{text(label)}] has no definition")
            for line, target in page.links:
                why = self._wrong(places, name, ESCAPED.sub(r"\1", target).replace("&amp;", "&"))
                if why:
                    found.add("broken-link", name, line, f"{text(target)}: {why}" if target else why)
        for name, target in tree.links.items():
            end = join(name, target)
            if end is None or not places.has(end):
                found.add("dead-symlink", name, 0, f"-> {show(target)}" + (" leaves the tree" if end is None else ""))

    def _wrong(self, places, page, target):
        """What is wrong with one link, or None."""
        if SCHEME.match(target) or any(mark in target for mark in TEMPLATE):
            self.external += 1
            return None
        self.checked += 1
        path, _, fragment = target.partition("#")
        path = unquote(path.partition("?")[0])
        if not path and not fragment:
            return None if target else "a link without a target"
        if path[:1] == b"/" and not places.has(places.root + path[1:].split(b"/", 1)[0]):
            return None    # a route of a web site, not a path from the top of the tree
        end = page if not path else join(places.root if path[:1] == b"/" else page, path.lstrip(b"/"))
        if end is None:
            return "leaves the tree"
        if not places.has(end):
            return places.guess(end)
        known = self._pages.get(end)
        if known and fragment and unquote(fragment).decode("utf-8", "replace").lower() not in known.anchors | {"top"}:
            if not re.match(r"L\d", fragment) and not fragment.startswith(":~:"):
                return "no such heading" + ("" if end == page else f" in {show(end.rsplit(b'/', 1)[-1])}")
        return None


class Places:
    """The names of a tree, asked as a file system would be."""

    def __init__(self, tree):
        self.root = tree.prefix()
        self._tree, self._lower = tree, None

    def has(self, name):
        tree = self._tree
        if name in tree.names or name in tree.dirs or name in tree.links:
            return True
        parts = name.split(b"/")    # below a symbolic link anything may be
        return bool(tree.links) and any(b"/".join(parts[:i]) in tree.links for i in range(1, len(parts)))

    def guess(self, name):
        """Why `name` is not there, with the name that was perhaps meant."""
        if name + b".md" in self._tree.names:
            return f"no such file, but {show(name.rsplit(b'/', 1)[-1])}.md is there"
        if self._lower is None:
            self._lower = {other.lower(): other for other in sorted(self._tree.names | self._tree.dirs)}
        other = self._lower.get(name.lower())
        return f"no such file, but {show(other[len(self.root):])} is there" if other else "no such file"


def join(name, target):
    """`target` as seen from the directory of `name`; None when it is absolute or climbs out of the tree."""
    if target[:1] == b"/":
        return None
    parts = name.split(b"/")[:-1]
    for part in target.split(b"/"):
        if part == b"..":
            if not parts:
                return None
            parts.pop()
        elif part not in (b"", b"."):
            parts.append(part)
    return b"/".join(parts)


def unquote(target):
    return PERCENT.sub(lambda match: bytes([int(match[1], 16)]), target.encode("utf-8", "surrogateescape"))


def text(target):
    return show(target.encode("utf-8", "surrogateescape")[:200])
