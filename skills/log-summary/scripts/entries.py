"""Cuts a log into entries: when, how grave, and what was said. Knows the common shapes and reads the rest as plain lines.

Shapes: RFC 3339 and its relatives, syslog (RFC 3164), Apache and nginx access logs, klog, and JSON lines.
"""

import gzip
import json
import re
import zlib

MAX_LINE = 16_384      # bytes of a line that are read; the rest of it is passed over
MAX_TEXT = 500         # characters of an entry's text that are kept
LEVELS = ("fatal", "error", "warning", "info", "debug", "trace", "unknown")

ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d)(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(Z|UTC|[+-]\d\d:?\d\d)\b)?")
SYSLOG = re.compile(r"([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):\d\d ")
APACHE = re.compile(r"\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):\d\d ([+-]\d{4})\]")
KLOG = re.compile(r"([IWEF])(\d\d)(\d\d) (\d\d):(\d\d):\d\d\.\d+\s+\d+ ")
REQUEST = re.compile(r'"([A-Z]{1,20}) ([^\s"?]{1,500})[^"]{0,2000}" ([1-5])\d\d\b')
MESSAGE = re.compile(r'\b(?:msg|message)="((?:[^"\\]|\\.){1,1000}+)"')
UPPER = re.compile(r"\b(FATAL|CRITICAL|CRIT|PANIC|EMERG|ALERT|SEVERE|ERROR|ERR|WARNING|WARN|NOTICE|INFO|DEBUG|TRACE|VERBOSE)\b")
LOWER = re.compile(r"(?:\[|level=\"?|lvl=\"?|severity=\"?|^|: )"
                   r"(fatal|critical|crit|panic|emerg|alert|error|err|warning|warn|notice|info|debug|trace)(?=[\]\": ]|$)")

MONTHS = {name: i for i, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
ANSWERS = {"5": ("error", "server error"), "4": ("warning", "client error"), "3": ("info", "redirect")}
GRADES = {
    "fatal": "fatal", "critical": "fatal", "crit": "fatal", "panic": "fatal", "emerg": "fatal", "alert": "fatal", "severe": "error",
    "error": "error", "err": "error", "warning": "warning", "warn": "warning", "notice": "info", "info": "info", "information": "info",
    "debug": "debug", "trace": "trace", "verbose": "trace", "i": "info", "w": "warning", "e": "error", "f": "fatal",
}
TIME_KEYS, LEVEL_KEYS = ("time", "ts", "timestamp", "@timestamp", "t"), ("level", "severity", "lvl", "levelname", "log.level")
TEXT_KEYS = ("msg", "message", "event", "error", "err")
NO_YEAR = 2000    # the year of times that come without one; a leap year, so that 29 February is a day


class Broken(Exception):
    """The log cannot be read; the text says why."""


class Entry:
    """`minute` counts from 1970 in UTC (a time without a zone is taken as UTC), or is None."""

    __slots__ = ("line", "minute", "level", "text")

    def __init__(self, line, minute, level, text):
        self.line, self.minute, self.level, self.text = line, minute, level, text[:MAX_TEXT]


class Log:
    def __init__(self, path):
        self.path = path
        self.lines = 0
        self.continued = 0     # lines that belong to the entry before: stack traces and the like
        self.cut = 0           # lines longer than MAX_LINE
        self.dated = True      # False when the times have no year
        self._year, self._month = NO_YEAR, 1

    def entries(self):
        """Yields the entries in order. Raises Broken."""
        timed = False
        for line in self._text():
            self.lines += 1
            if not line.strip():
                continue
            entry = self._json(line) if line[0] == "{" else None
            entry = entry or self._plain(line)
            if entry.minute is None and timed:
                self.continued += 1
                continue
            timed = timed or entry.minute is not None
            yield entry

    def _text(self):
        with open(self.path, "rb") as file:
            if file.read(2) == b"\x1f\x8b":
                file.seek(0)
                file = gzip.GzipFile(fileobj=file)
            file.seek(0)
            try:
                while line := file.readline(MAX_LINE):
                    rest = line
                    while len(rest) == MAX_LINE and rest[-1:] != b"\n":
                        self.cut += rest is line
                        rest = file.readline(MAX_LINE)
                    yield line.decode("utf-8", "backslashreplace").rstrip("\r\n")
            except (EOFError, zlib.error, gzip.BadGzipFile) as err:
                raise Broken(f"its gzip stream is damaged: {err}") from None

    def _plain(self, line):
        head = line[:120]
        if match := ISO.search(head):
            year, month, day, hour, minute = map(int, match.group(1, 2, 3, 4, 5))
            return self._entry(match, line, minutes(year, month, day, hour, minute, match[6]))
        if (match := SYSLOG.match(head)) and match[1] in MONTHS:
            when = self._without_year(MONTHS[match[1]], int(match[2]), int(match[3]), int(match[4]))
            return self._entry(match, line, when)
        if (match := APACHE.search(head)) and match[2] in MONTHS:
            day, year, hour, minute = map(int, match.group(1, 3, 4, 5))
            when = minutes(year, MONTHS[match[2]], day, hour, minute, match[6])
            request = REQUEST.search(line, match.end())
            grade, answer = ANSWERS.get(request[3], ("info", "answered")) if request else ("unknown", "")
            return Entry(self.lines, when, grade, f"{answer}: {request[1]} {request[2]}" if request else line[match.end():].strip())
        if match := KLOG.match(head):
            when = self._without_year(*map(int, match.group(2, 3, 4, 5)))
            return Entry(self.lines, when, GRADES[match[1].lower()], line[match.end():].strip())
        return Entry(self.lines, None, level_of(head), line.strip())

    def _entry(self, match, line, when):
        text = line[match.end():].strip().lstrip(' \t]-|:"') or line[:match.start()]
        message = MESSAGE.search(text)
        return Entry(self.lines, when, level_of(text[:160]), message[1] if message else text)

    def _without_year(self, month, day, hour, minute):
        self.dated = False
        if self._month == 12 and month == 1:
            self._year += 1
        self._month = month
        return minutes(self._year, month, day, hour, minute, None)

    def _json(self, line):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return None
        first = lambda keys: next((fields[key] for key in keys if isinstance(fields.get(key), (str, int, float))), None)
        when, level, text = first(TIME_KEYS), first(LEVEL_KEYS), first(TEXT_KEYS)
        if isinstance(when, str):
            match = ISO.match(when)
            when = minutes(*map(int, match.group(1, 2, 3, 4, 5)), match[6]) if match else None
        elif isinstance(when, (int, float)):
            seconds = when / 1000 if when > 1e11 else when    # milliseconds are common too
            when = int(seconds // 60) if 0 < seconds < 1e10 else None
        grade = GRADES.get(str(level).lower(), "unknown")
        return Entry(self.lines, when, grade, str(text) if text is not None else line)


def level_of(text):
    match = UPPER.search(text) or LOWER.search(text)
    return GRADES[match[1].lower()] if match else "unknown"


def minutes(year, month, day, hour, minute, zone):
    """Minutes from 1970-01-01 00:00 UTC in the Gregorian calendar, or None for a time that is none."""
    if not (1970 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60):
        return None
    if zone and zone[0] in "+-":
        offset = int(zone[1:3]) * 60 + int(zone[-2:])
        minute -= offset if zone[0] == "+" else -offset
    years = year - (month < 3)    # years that end in February, so that a leap day comes last
    days = years * 365 + years // 4 - years // 100 + years // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469
    return (days * 24 + hour) * 60 + minute


def clock(minute, dated=True):
    """A minute as "2025-11-29 17:18", or "11-29 17:18" for logs without a year."""
    days, rest = divmod(minute, 24 * 60)
    days += 719468
    era, day = divmod(days, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day, month, year = day - (153 * month + 2) // 5 + 1, month + 3 if month < 10 else month - 9, year + 400 * era + (month >= 10)
    return (f"{year:04}-" if dated else "") + f"{month:02}-{day:02} {rest // 60:02}:{rest % 60:02}"
