#!/usr/bin/env python3
"""Counts the files, languages and lines of a source tree that comes as a tar. Prints one JSON object."""

import os
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

from languages import language, measure
from tree import Broken, Tree, show
from world import finish, step_input

TOP = 10             # largest and longest files
MAX_LANGUAGES = 25   # the rest are added up as "(others)"
MAX_DIRECTORIES = 20


class Sums(dict):
    """Sums by key: a row of numbers for each language or directory."""

    def add(self, key, **numbers):
        row = self.setdefault(key, dict.fromkeys(numbers, 0))
        for name, number in numbers.items():
            row[name] += number

    def rows(self, label, order, limit):
        """The `limit` largest rows by `order`, then by key; what is left is added up in one row."""
        keys = sorted(self, key=lambda key: (-self[key][order], key))
        rest = Sums()
        for key in keys[limit:]:
            rest.add("(others)", **self[key])
        return [{label: key, **self[key]} for key in keys[:limit]] + [{label: key, **row} for key, row in rest.items()]


def count(path):
    tree = Tree(path)
    files = list(map(look, tree.files()))
    cut = len(tree.prefix())
    languages, directories, totals = Sums(), Sums(), Sums()
    totals.add("all", files=0, text_files=0, bytes=0, lines=0, code=0, comments=0, blank=0)
    for name, size, spoken, lines, blank, comments in files:
        numbers = {"bytes": size, "lines": lines, "code": lines - blank - comments, "comments": comments, "blank": blank}
        totals.add("all", files=1, text_files=int(spoken is not None), **numbers)
        if spoken:
            languages.add(spoken, files=1, **numbers)
        top, slash, _ = name[cut:].partition(b"/")
        directories.add(show(top) + "/" if slash else "./", files=1, bytes=size, lines=lines)
    return {
        "name": show(tree.prefix()[:-1]) or None,
        "revision": tree.revision and show(tree.revision.encode()),
        **totals["all"],
        "languages": languages.rows("name", "code", MAX_LANGUAGES),
        "directories": directories.rows("path", "lines", MAX_DIRECTORIES),
        "largest": [{"path": show(f[0][cut:]), "bytes": f[1]} for f in top_files(files, 1)],
        "longest": [{"path": show(f[0][cut:]), "lines": f[3], "language": f[2]} for f in top_files(files, 3) if f[3]],
        "passed_over": {"links": len(tree.links), "special": tree.special, "unsafe_names": len(tree.unsafe),
                        "repeated_names": tree.repeated, "only_head_read": tree.oversized},
        "incomplete": tree.incomplete,
    }


def look(file):
    """(name, size, language, lines, blank, comments); without language and lines when binary or too large to read."""
    if file.binary or not file.whole:
        return file.name, file.size, None, 0, 0, 0
    spoken = language(file)
    return file.name, file.size, spoken, *measure(file.data, spoken)


def top_files(files, column):
    return sorted(files, key=lambda f: (-f[column], f[0]))[:TOP]


def main():
    repo = step_input("repo")["repo"]
    try:
        finish(count(repo))
    except (Broken, OSError) as err:
        sys.exit(f"reading the archive {show(os.fsencode(repo))}: {err}")


if __name__ == "__main__":
    main()
