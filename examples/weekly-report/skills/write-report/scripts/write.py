#!/usr/bin/env python3
"""Writes what `aggregate-sales` found as out/report.md. Prints one JSON object."""

import os
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

from markdown import report
from words import headline
from world import finish, step_input


def main():
    sales = step_input("sales")["sales"]
    os.makedirs("out", exist_ok=True)
    # What JSON let through as half a surrogate pair cannot be UTF-8; it is shown, not a reason to fail.
    with open("out/report.md", "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(report(sales))
    finish({"headline": headline(sales), "report": "report.md"})


if __name__ == "__main__":
    main()
