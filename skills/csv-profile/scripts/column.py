"""What one column holds. Values are counted first and judged once each: a column has far fewer values than cells."""

import re
from itertools import islice
from math import isfinite, sqrt

MEMORY = 256 << 20    # bytes that the distinct values of all columns may take; later new values are judged and not kept
OVERHEAD = 120        # bytes of a kept value beside its characters
SAMPLE = 20_000       # values not kept that quantiles are estimated from
EXAMPLES = 3

EMPTY = {"null", "na", "n/a", "nan", "none", "nil", "-", "\\n", "#n/a"}
BOOLEAN = {"true", "false", "yes", "no"}
INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})")
CODE = re.compile(r"\d{2,40}")    # a leading zero, or more digits than a number keeps: an identifier
DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9]\d{0,300})(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,3})?")
DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
TIME = re.compile(r"[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?")


class Budget:
    """What is left of MEMORY. One budget serves all columns of a table."""

    def __init__(self, size=MEMORY):
        self.left = size


class Column:
    def __init__(self, name, budget):
        self.name = name
        self._budget = budget
        self.counts = {}       # value -> how often; the first values of the column, as the budget allows
        self.exact = True      # whether counts has every value
        self.cells = 0
        self.kinds = {}        # kind -> how many cells
        self.examples = {}     # kind -> its first values
        self.spaced = 0        # cells with white space around
        self.shortest, self.longest = None, 0
        self.low, self.high = None, None    # least and greatest date
        self.numbers = Numbers()

    def add(self, values):
        """Counts the cells of some rows."""
        self.cells += len(values)
        known, counts = len(self.counts), self.counts
        for value in values:
            counts[value] = counts.get(value, 0) + 1
        for value in list(islice(counts, known, None)):
            self._budget.left -= OVERHEAD + len(value)
            if self._budget.left < 0:
                self.exact = False
                self._judge(value, counts.pop(value), kept=False)

    def finish(self):
        for value, count in self.counts.items():
            self._judge(value, count, kept=True)

    def _judge(self, value, count, kept):
        text = value.strip()
        kind = kind_of(text)
        self.kinds[kind] = self.kinds.get(kind, 0) + count
        if kind == "empty":
            return
        examples = self.examples.setdefault(kind, [])
        if len(examples) < EXAMPLES and text not in examples:
            examples.append(text)
        self.spaced += count if text != value else 0
        self.shortest = len(text) if self.shortest is None else min(self.shortest, len(text))
        self.longest = max(self.longest, len(text))
        if kind in ("integer", "decimal"):
            self.numbers.add(int(text) if kind == "integer" else float(text), count, kept)
        elif kind in ("date", "datetime"):
            self.low = text if self.low is None else min(self.low, text)
            self.high = text if self.high is None else max(self.high, text)


class Numbers:
    """Count, extremes, mean, deviation (West's weighted form of Welford's method) and quantiles."""

    def __init__(self):
        self.count, self.mean, self._squares = 0, 0.0, 0.0
        self.low, self.high = None, None
        self.estimated = False
        self._weighted = []           # (value, count) of values that the column keeps
        self._sample, self._every, self._seen = [], 1, 0

    def add(self, value, count, kept):
        self.count += count
        step = (value - self.mean) * count / self.count
        self._squares += count * (value - self.mean) * (value - self.mean - step)
        self.mean += step
        self.low = value if self.low is None else min(self.low, value)
        self.high = value if self.high is None else max(self.high, value)
        if kept:
            self._weighted.append((value, count))
            return
        self.estimated = True
        if self._seen % self._every == 0:    # every n-th, so that the same file gives the same estimate
            self._sample.append(value)
        self._seen += 1
        if len(self._sample) > SAMPLE:
            self._sample, self._every = self._sample[::2], self._every * 2

    def deviation(self):
        spread = max(self._squares, 0.0) / self.count if self.count else 0.0
        return sqrt(spread) if isfinite(spread) else spread

    def quantiles(self, *parts):
        """For each part the least value that at least that part of the cells do not exceed (nearest rank)."""
        weighted = sorted(self._weighted + [(value, self._every) for value in self._sample])
        total = sum(count for _, count in weighted)
        found, passed, wanted = [], 0, list(parts)
        for value, count in weighted:
            passed += count
            while wanted and passed >= wanted[0] * total:
                found.append(value)
                wanted.pop(0)
        return found + [self.high] * len(wanted)


def kind_of(text):
    """empty, integer, decimal, code, boolean, date, datetime or text."""
    word = text.lower() if len(text) <= 5 else ""
    if not text or word in EMPTY and word:
        return "empty"
    if INTEGER.fullmatch(text):
        return "integer"
    if CODE.fullmatch(text):
        return "code"
    if DECIMAL.fullmatch(text) and isfinite(float(text)):
        return "decimal"
    if word in BOOLEAN:
        return "boolean"
    if DATE.match(text):
        if len(text) == 10:
            return "date"
        if TIME.fullmatch(text, 10):
            return "datetime"
    return "text"
