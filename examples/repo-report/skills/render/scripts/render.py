#!/usr/bin/env python3
"""Writes what `count` and `lint` found as out/report.md and out/report.html. Prints one JSON object."""

import os
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

import page
import text
from words import verdict
from world import finish, step_input


def main():
    given = step_input("count", "lint")
    count, lint = given["count"], given["lint"]
    bundle = os.environ.get("JOY_SKILL_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    with open(os.path.join(bundle, "assets", "style.css"), encoding="utf-8") as file:
        style = file.read()
    os.makedirs("out", exist_ok=True)
    write("out/report.md", text.report(count, lint))
    write("out/report.html", page.report(count, lint, style))
    finish({
        "verdict": verdict(lint), "files": count["files"], "lines": count["lines"],
        "errors": lint["errors"], "warnings": lint["warnings"], "notes": lint["notes"],
        "complete": count["incomplete"] is None and lint["incomplete"] is None,
        "reports": ["report.md", "report.html"],
    })


def write(path, content):
    # What JSON let through as half a surrogate pair cannot be UTF-8; it is shown, not a reason to fail.
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(content)


if __name__ == "__main__":
    main()
