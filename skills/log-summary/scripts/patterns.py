"""Messages that differ only in their details, counted as one. What stands for a detail is written <…>."""

import re

MAX_PATTERNS = 20_000    # later new ones are counted together
MAX_TEXT = 240           # characters of a message that make its pattern

# In this order: each leaves nothing that a later one would take apart.
DETAILS = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b"), "<ip>"),
    (re.compile(r"\b(?:0x[0-9a-fA-F]+|(?=[a-f]{0,40}\d)[0-9a-f]{10,64})\b"), "<hex>"),
    (re.compile(r'"[^"]{0,240}"'), '"<…>"'),
    (re.compile(r"\d+"), "<n>"),
)


def pattern(text):
    text = text[:MAX_TEXT]
    for detail, name in DETAILS:
        text = detail.sub(name, text)
    return text


class Patterns:
    """Patterns with their count, first and last entry."""

    def __init__(self):
        self._seen = {}        # (pattern, level) -> [count, first entry, last entry]
        self.distinct = 0
        self.others = 0        # entries beyond MAX_PATTERNS

    def add(self, entry):
        key = pattern(entry.text), entry.level
        seen = self._seen.get(key)
        if seen:
            seen[0] += 1
            seen[2] = entry
        elif self.distinct < MAX_PATTERNS:
            self.distinct += 1
            self._seen[key] = [1, entry, entry]
        else:
            self.others += 1

    def top(self, limit, levels=None):
        """(pattern, level, count, first, last) of the most frequent, of those levels; among equals by pattern."""
        chosen = [(key, seen) for key, seen in self._seen.items() if levels is None or key[1] in levels]
        chosen.sort(key=lambda item: (-item[1][0], item[0]))
        return [(*key, *seen) for key, seen in chosen[:limit]]


class Rates:
    """Entries and errors by minute."""

    MAX_MINUTES = 300_000    # over half a year without a break; entries of later minutes are left out of the rates

    def __init__(self):
        self.minutes = {}      # minute -> [entries, errors]
        self.left_out = 0

    def add(self, minute, error):
        counts = self.minutes.get(minute)
        if counts is None:
            if len(self.minutes) >= self.MAX_MINUTES:
                self.left_out += 1
                return
            counts = self.minutes[minute] = [0, 0]
        counts[0] += 1
        counts[1] += error

    def buckets(self, limit):
        """(minutes in a bucket, [(first minute, entries, errors)]): at most `limit` buckets of a round length."""
        low, high = min(self.minutes), max(self.minutes)
        for width in (1, 5, 10, 30, 60, 180, 360, 1440, 7 * 1440, 30 * 1440, 365 * 1440, 3650 * 1440):
            start = low // width * width
            if (high - start) // width < limit:
                break
        sums = {}
        for minute, (entries, errors) in self.minutes.items():
            row = sums.setdefault((minute - start) // width, [0, 0])
            row[0], row[1] = row[0] + entries, row[1] + errors
        count = (high - start) // width + 1
        return width, [(start + i * width, *sums.get(i, (0, 0))) for i in range(count)]

    def silence(self):
        """(minutes, after which minute) of the longest stretch without an entry."""
        known = sorted(self.minutes)
        gaps = ((after - before - 1, before) for before, after in zip(known, known[1:]))
        return max(gaps, default=(0, None), key=lambda gap: (gap[0], -gap[1]))
