"""Reads a delimited text file row by row: its encoding, its delimiter, its header, and the rows that do not fit.

The one rule: the file is a stranger's. A line, a field and a row are bounded, and what cannot be read is counted and
shown, never guessed at or dropped in silence.
"""

import csv
import gzip
import io
import zlib
from collections import Counter

MAX_LINE = 4 << 20       # characters; a file with a longer one is no table
MAX_FIELD = 1 << 20      # characters; an unclosed quote swallows what follows up to here
MAX_COLUMNS = 2_000
SHOWN = 20               # malformed rows that are listed
SAMPLE = 1 << 16         # bytes that decide on encoding and delimiter

DELIMITERS = ",;\t|"
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Broken(Exception):
    """The file cannot be read as a table; the text says why."""


class Table:
    """One file. `header` is known after open(); the counts are complete once rows() has ended."""

    def __init__(self, path, delimiter=None, has_header=True):
        self.encoding, self.delimiter = None, delimiter
        self.header = []
        self.blank = 0          # lines without anything
        self.undecodable = 0    # lines with bytes that the encoding does not have
        self.malformed = []     # the first SHOWN: {line, fields, why}
        self.malformed_total = 0
        self._reader = None
        self._first = None      # a first row that is data, because there is no header
        self._open(path, has_header)

    def rows(self):
        """Yields the rows that have as many fields as the header. Raises Broken."""
        width = len(self.header)
        if self._first is not None:
            yield self._first
        while True:
            try:
                row = next(self._reader)
            except StopIteration:
                return
            except csv.Error as err:
                self._bad(0, str(err))
                continue
            if len(row) == width:
                yield row
            elif not row:
                self.blank += 1
            else:
                self._bad(len(row), f"{len(row):,} field{'s' if len(row) > 1 else ''} where the header has {width:,}")

    def _open(self, path, has_header):
        raw = open(path, "rb")
        if raw.read(2) == b"\x1f\x8b":
            raw.seek(0)
            raw = gzip.GzipFile(fileobj=raw)
        raw.seek(0)
        head = self._safely(raw.read, SAMPLE)
        raw.seek(0)
        self.encoding = encoding(head)
        text = io.TextIOWrapper(io.BufferedReader(raw) if isinstance(raw, gzip.GzipFile) else raw, self.encoding, "replace", newline="")
        if not self.delimiter:
            self.delimiter = delimiter(head.decode(self.encoding, "replace"))
        csv.field_size_limit(MAX_FIELD)
        self._reader = csv.reader(self._lines(text), delimiter=self.delimiter, strict=True)    # strict: an unclosed quote is an error
        try:
            first = next((row for row in self._reader if row), None)
        except csv.Error as err:
            raise Broken(f"its first row: {err}") from None
        if first is None:
            raise Broken("it is empty")
        if len(first) > MAX_COLUMNS:
            raise Broken(f"it has {len(first):,} columns, more than {MAX_COLUMNS:,}")
        self.header = [name.strip() for name in first] if has_header else [f"column {i}" for i in range(1, len(first) + 1)]
        self._first = None if has_header else first

    def _lines(self, text):
        while line := self._safely(text.readline, MAX_LINE):
            if len(line) == MAX_LINE:
                raise Broken(f"a line is longer than {MAX_LINE >> 20} Mi characters")
            self.undecodable += "\ufffd" in line
            yield line

    def _safely(self, read, size):
        try:
            return read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as err:
            raise Broken(f"it is damaged: {err}") from None

    def _bad(self, fields, why):
        self.malformed_total += 1
        if len(self.malformed) < SHOWN:
            self.malformed.append({"line": self._reader.line_num, "fields": fields, "why": why})


def encoding(head):
    """By byte order mark, else UTF-8 when the sample is, else Windows-1252, which most other exports are."""
    for bom, name in BOMS.items():
        if head.startswith(bom):
            return name
    try:
        head[:-4 if len(head) == SAMPLE else None].decode("utf-8")
    except UnicodeDecodeError as err:
        if err.end < len(head) - 4:
            return "cp1252"
    return "utf-8"


def delimiter(sample):
    """The one that cuts most lines of the sample into the same number of fields, at least two; else a comma."""
    lines = sample.splitlines()[:50]
    best, choice = (0, 0), ","
    for candidate in DELIMITERS:
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=candidate) if row)
        except csv.Error:
            continue
        width, rows = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        if width > 1 and (rows, width) > best:
            best, choice = (rows, width), candidate
    return choice
