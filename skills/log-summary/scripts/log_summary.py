#!/usr/bin/env python3
"""Summarises a log file: out/summary.md for people, out/summary.json in full, and one JSON object as the result."""

import json
import os
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

from entries import LEVELS, Broken, Log, clock
from patterns import Patterns, Rates
from report import report
from world import finish, step_input

ERRORS = ("fatal", "error")
IN_FILE = 200     # patterns in summary.json
BUCKETS = 48      # lines of the chart


def summarise(path, top):
    log, patterns, rates = Log(path), Patterns(), Rates()
    levels, count = dict.fromkeys(LEVELS, 0), 0
    for entry in log.entries():
        count += 1
        levels[entry.level] += 1
        patterns.add(entry)
        if entry.minute is not None:
            rates.add(entry.minute, entry.level in ERRORS)
    rows = lambda limit, grades: [row(*found, log.dated) for found in patterns.top(limit, grades)]
    whole = {
        "lines": log.lines, "entries": count, "continued": log.continued, "cut_lines": log.cut,
        "levels": levels, "time": timing(rates, log.dated) if rates.minutes else None,
        "patterns": patterns.distinct, "beyond_patterns": patterns.others, "beyond_minutes": rates.left_out,
        "errors": rows(IN_FILE, ERRORS), "messages": rows(IN_FILE, None),
    }
    return whole, whole | {"errors": whole["errors"][:top], "messages": whole["messages"][:top]}


def row(pattern, level, count, first, last, dated):
    place = lambda entry: {"line": entry.line, "time": clock(entry.minute, dated) if entry.minute is not None else None}
    return {"pattern": printable(pattern), "level": level, "count": count, "first": place(first), "last": place(last),
            "example": printable(first.text[:240])}


def timing(rates, dated):
    first, last = min(rates.minutes), max(rates.minutes)
    peak = min(rates.minutes, key=lambda minute: (-rates.minutes[minute][0], minute))
    silent, after = rates.silence()
    width, buckets = rates.buckets(BUCKETS)
    total = sum(entries for entries, _ in rates.minutes.values())
    return {
        "first": clock(first, dated), "last": clock(last, dated), "zone": "UTC, or as written where no zone is given",
        "per_minute": float(f"{total / (last - first + 1):.6g}"),
        "peak": {"minute": clock(peak, dated), "entries": rates.minutes[peak][0]},
        "silence": {"minutes": silent, "after": clock(after, dated)} if silent else None,
        "bucket_minutes": width,
        "buckets": [{"start": clock(start, dated), "entries": entries, "errors": errors} for start, entries, errors in buckets],
    }


def printable(text):
    """Text of the log on one line, with what would not print spelled out."""
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def main():
    given = step_input("log")
    try:
        whole, short = summarise(given["log"], given.get("top") or 20)
    except (Broken, OSError) as err:
        sys.exit(f"reading the log {os.path.basename(given['log'])!r}: {err}")
    os.makedirs("out", exist_ok=True)
    write("out/summary.json", json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write("out/summary.md", report(short))
    finish(short)


def write(path, content):
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(content)


if __name__ == "__main__":
    main()
