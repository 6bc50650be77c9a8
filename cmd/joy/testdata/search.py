#!/usr/bin/env python3
"""Looks for two words in every file, environment and memory that a step can read: one that is there, one that must not be."""

import json
import os
import re
import subprocess

# Neither word is in here as it would be found: a class of one character keeps the pattern from matching itself.
WORDS = re.compile(rb"(canary|planted)-[5]f1c9a7e")
LIMIT = 64 << 20

found = {"canary": [], "planted": []}
looked = {"files": 0, "environments": 0, "memories": 0}


def look(kind, place, chunks):
    """Searches what comes in chunks; a word on the seam of two is found too."""
    looked[kind] += 1
    tail = b""
    for chunk in chunks:
        for word in WORDS.findall(tail + chunk):
            if place not in found[word.decode()]:
                found[word.decode()].append(place)
        tail = chunk[-32:]


def content(path):
    """A file's bytes, as far as the limit, without waiting for any."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        left = LIMIT
        while left > 0 and (chunk := os.read(fd, 1 << 20)):
            left -= len(chunk)
            yield chunk
    finally:
        os.close(fd)


def memory(pid):
    """All that may be read of a process's memory."""
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for line in maps:
            span, mode = line.split()[:2]
            begin, end = (int(part, 16) for part in span.split("-"))
            if mode[0] != "r":
                continue
            for at in range(begin, end, 1 << 20):
                try:
                    mem.seek(at)
                    yield mem.read(min(1 << 20, end - at))
                except (OSError, OverflowError, ValueError):
                    break


def attempt(kind, place, chunks):
    try:
        look(kind, place, chunks)
    except OSError:
        pass


def main():
    answer = subprocess.run(["joy-guest", "call", "demo.echo", "message=hi"], check=True, capture_output=True, text=True).stdout
    listing = subprocess.run(["joy-guest", "tools"], check=True, capture_output=True, text=True).stdout
    for top, dirs, files in os.walk("/"):
        if top == "/proc":
            dirs[:] = []  # below
        for name in files:
            path = os.path.join(top, name)
            if os.path.isfile(path) and not os.path.islink(path):
                attempt("files", path, content(path))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "mountinfo", "status"):
            attempt("files", f"/proc/{pid}/{name}", content(f"/proc/{pid}/{name}"))
        attempt("environments", f"/proc/{pid}/environ", content(f"/proc/{pid}/environ"))
        attempt("memories", f"/proc/{pid}/mem", memory(pid))
    with open("out/report.json", "w", encoding="utf-8") as file:
        json.dump({"found": found, "looked": looked, "answer": answer, "tools": listing}, file)
    print("{}")


main()
