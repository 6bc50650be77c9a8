#!/usr/bin/env python3
"""Finds what is wrong in a source tree that comes as a tar. Prints one JSON object; every finding is in out/findings.jsonl."""

import os
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

import textrules
from findings import Findings
from links import Links
from shell import Shells
from tree import Broken, Tree, interpreter, show
from world import finish, step_input

WANTED = {"README": (b"readme",), "LICENSE": (b"license", b"licence", b"copying", b"unlicense")}


def lint(path):
    """The findings of the tree, and the result without them."""
    tree, found, links, shells = Tree(path), Findings(), Links(), Shells()
    executables = 0
    for file in tree.files():
        executables += file.mode & 0o111 != 0
        textrules.look(file, found)
        if not file.binary:
            links.look(file)
            shells.look(file, interpreter(file.data), found)
    if executables == len(tree.names) > 1:
        found.drop("no-shebang")    # the archive's maker has no modes
    links.finish(tree, found)
    names(tree, found)
    cut = len(tree.prefix())
    shorten = lambda name: show(name[cut:])
    return found, shorten, {
        "errors": found.count("error"), "warnings": found.count("warning"), "notes": found.count("note"),
        "rules": found.summary(shorten), "clean": found.clean(),
        "links": {"checked": links.checked, "external": links.external},
        "scripts": {"checked": shells.checked, "unchecked": shells.unchecked},
        "incomplete": tree.incomplete,
    }


def names(tree, found):
    """The rules that look at the tree's names alone."""
    prefix = tree.prefix()
    for raw in tree.unsafe:
        found.add("unsafe-name", prefix + raw, 0, "was not read")
    lower = {}
    for name in sorted(tree.names | tree.links.keys()):
        first = lower.setdefault(name.lower(), name)
        if first != name:
            found.add("case-clash", name, 0, f"and {show(first[len(prefix):])}")
    top = {name[len(prefix):].split(b".")[0].lower() for name in tree.names | tree.links.keys() if b"/" not in name[len(prefix):]}
    for wanted, stems in WANTED.items():
        if tree.names and not any(name.startswith(stem) for name in top for stem in stems):
            found.add("missing-file", prefix, 0, f"no {wanted} at the top")


def main():
    repo = step_input("repo")["repo"]
    try:
        found, shorten, result = lint(repo)
    except (Broken, OSError) as err:
        sys.exit(f"reading the archive {show(os.fsencode(repo))}: {err}")
    os.makedirs("out", exist_ok=True)
    with open("out/findings.jsonl", "w", encoding="utf-8", newline="\n") as file:
        found.write(file, shorten)
    finish(result)


if __name__ == "__main__":
    main()
