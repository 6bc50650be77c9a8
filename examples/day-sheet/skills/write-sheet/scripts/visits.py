"""A day's visits as CSV, and what is wrong with the day."""

import csv
import io
import re
from typing import NamedTuple

COLUMNS = ["time", "minutes", "customer", "work", "where"]
CUSTOMER = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
WET = re.compile(r"rain|drizzle|snow|sleet|storm", re.IGNORECASE)


class Visit(NamedTuple):
    start: int    # minutes since midnight
    end: int
    customer: str
    work: str
    outdoors: bool


def read_visits(text):
    """The visits in the order of the day. Raises ValueError with the line that cannot be read."""
    rows = csv.reader(io.StringIO(text), strict=True)
    try:
        if next(rows, None) != COLUMNS:
            raise ValueError(f"its first line is not {','.join(COLUMNS)}")
        visits = [read_visit(row) for row in rows if row]
    except (csv.Error, ValueError) as err:
        raise ValueError(f"visits, line {max(rows.line_num, 1)}: {err}") from None
    return sorted(visits)


def read_visit(row):
    if len(row) != len(COLUMNS):
        raise ValueError(f"it has {len(row)} fields and not {len(COLUMNS)}")
    time, minutes, customer, work, where = (" ".join(field.split()) for field in row)
    if not re.fullmatch(r"[0-9]{1,3}", minutes):
        raise ValueError(f"{minutes!r} is no number of minutes")
    if not CUSTOMER.fullmatch(customer):
        raise ValueError(f"{customer!r} is no customer such as harbor-cafe")
    if where not in ("indoors", "outdoors"):
        raise ValueError(f"{where!r} is neither indoors nor outdoors")
    start = minute(time)
    return Visit(start, start + int(minutes), customer, work, where == "outdoors")


def minute(text):
    found = re.fullmatch(r"([01][0-9]|2[0-3]):([0-5][0-9])", text)
    if not found:
        raise ValueError(f"{text!r} is no time such as 08:30")
    return int(found[1]) * 60 + int(found[2])


def clock(minutes):
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def warnings(visits, conditions, daylight):
    """For each visit a list of what is wrong with it."""
    rise, set_ = minute(daylight["sunrise"]), minute(daylight["sunset"])
    said, busy = [], None
    for visit in visits:
        words = []
        if busy and visit.start < busy.end:
            words.append(f"begins before {busy.customer} is over ({clock(busy.end)})")
        if visit.outdoors and visit.start < rise:
            words.append(f"begins before sunrise ({daylight['sunrise']})")
        if visit.outdoors and visit.end > set_:
            words.append(f"ends at {clock(visit.end)}, after sunset ({daylight['sunset']})")
        if visit.outdoors and WET.search(conditions):
            words.append(f"outdoors, and the weather is: {conditions}")
        said.append(words)
        if busy is None or visit.end > busy.end:
            busy = visit
    return said
