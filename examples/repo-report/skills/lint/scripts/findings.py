"""The rules, and what they found. Everything is counted; what is kept and what is shown is capped."""

import json

KEPT = 2000      # findings of one rule that go to findings.jsonl
SHOWN = 20       # findings of one rule in the step's result
TEXT = 120       # characters of a finding's text

# rule: (level, what a finding of it means)
RULES = {
    "merge-conflict": ("error", "Merge conflict markers"),
    "shell-syntax": ("error", "Shell scripts that do not parse"),
    "broken-link": ("error", "Broken links in Markdown"),
    "unsafe-name": ("error", "Names that leave the tree"),
    "dead-symlink": ("warning", "Symbolic links to nothing in the tree"),
    "case-clash": ("warning", "Names that differ only in case"),
    "no-shebang": ("warning", "Executable text without a shebang"),
    "crlf": ("warning", "Files with CRLF line ends"),
    "not-utf8": ("warning", "Text that is not UTF-8"),
    "large-binary": ("warning", "Large binary files"),
    "missing-file": ("warning", "Files a repository should have"),
    "todo": ("note", "TODO, FIXME, XXX and HACK"),
    "trailing-space": ("note", "Files with trailing white space"),
}


class Findings:
    def __init__(self):
        self._kept = {rule: [] for rule in RULES}
        self._total = dict.fromkeys(RULES, 0)

    def add(self, rule, path, line, text):
        """Counts a finding and keeps it. `path` is the name in the archive, `line` 0 when it is about the whole file."""
        self._total[rule] += 1
        if len(self._kept[rule]) < KEPT:
            self._kept[rule].append((path, line, text if len(text) <= TEXT else text[:TEXT - 1] + "…"))

    def drop(self, rule):
        """Forgets a rule's findings: for one that turned out to say nothing about this tree."""
        self._total[rule], self._kept[rule] = 0, []

    def count(self, level):
        return sum(total for rule, total in self._total.items() if RULES[rule][0] == level)

    def summary(self, show):
        """One object for each rule that found something, in RULES' order; `show` turns a name into text."""
        return [{
            "rule": rule, "level": level, "title": title, "total": self._total[rule],
            "shown": [_row(show, *found) for found in sorted(self._kept[rule])[:SHOWN]],
        } for rule, (level, title) in RULES.items() if self._total[rule]]

    def clean(self):
        return [rule for rule in RULES if not self._total[rule]]

    def write(self, file, show):
        """Writes every finding that was kept, one JSON object a line."""
        for rule, kept in self._kept.items():
            for found in sorted(kept):
                file.write(json.dumps({"rule": rule, **_row(show, *found)}, ensure_ascii=False) + "\n")


def _row(show, path, line, text):
    return {"path": show(path) or ".", "line": line, "text": text}
