#!/usr/bin/env python3
"""Adds up the order lines of one week, with last week and last year beside it. Prints one JSON object."""

import datetime
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

from orders import Broken, Orders, once
from sums import LAST_WEEK, LAST_YEAR, THIS, WEEK, Breakdown, Period, Sum
from world import finish, step_input

TREND = 53         # weeks of the trend, with the report's own
GROUPS = 8         # rows of a breakdown; what is beyond is added up as "Other"
PRODUCTS = 10
MOVERS = 3
DAY = datetime.timedelta(days=1)


def aggregate(path, period):
    source = Orders(path)
    totals, weeks, days, categories_of, used = {}, {}, {}, {}, 0
    by = {name: Breakdown() for name in ("channel", "country", "category", "product")}
    first, last, oldest = None, None, period.monday - (TREND - 1) * WEEK
    for line in source.lines():
        monday = monday_of(line.date)
        first, last = min(first or monday, monday), max(last or monday, monday)
        if oldest <= monday <= period.monday:
            weeks.setdefault(monday, Sum()).add(line)
        week = period.mondays.get(monday)
        if week is None:
            continue
        totals.setdefault(week, Sum()).add(line)
        used += week == THIS
        for name, breakdown in by.items():
            breakdown.add(getattr(line, name), week, line)
        categories_of.setdefault(line.product, line.category)
        if week != LAST_YEAR:
            days.setdefault(line.date, Sum()).add(line)
    if THIS not in totals:
        held = f"it holds {iso(first)} to {iso(last)}" if first else "it holds none at all"
        raise Broken(f"there is no order line of {period.iso}; {held}")

    def net(sums, key):
        return sums[key].gross - sums[key].returns if key in sums else 0

    products = [{**row, "category": categories_of[row["name"]]} for row in by["product"].top(PRODUCTS)]
    rises, falls = by["product"].moved(MOVERS)
    return {
        "week": period.as_json(),
        "totals": totals[THIS].as_json(),
        "last_week": totals[LAST_WEEK].as_json() if LAST_WEEK in totals else None,
        "last_year": totals[LAST_YEAR].as_json() if LAST_YEAR in totals else None,
        "weeks": [{"iso": iso(monday), "from": str(monday), "net_cents": net(weeks, monday)} for monday in sorted(weeks)],
        "days": [{"date": str(date), "net_cents": net(days, date), "last_week_net_cents": net(days, date - WEEK)}
                 for date in (period.monday + n * DAY for n in range(7))],
        "channels": by["channel"].rows(GROUPS),
        "countries": by["country"].rows(GROUPS),
        "categories": by["category"].rows(GROUPS),
        "products": products,
        "rises": rises,
        "falls": falls,
        "rows": {"read": source.rows, "used": used, "repeated": source.repeated, "unreadable": source.unreadable,
                 "examples": source.examples},
    }


@once
def monday_of(date):
    return date - date.weekday() * DAY


def iso(day):
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02d}"


def main():
    given = step_input("orders", "week")
    try:
        period = Period(given["week"])
    except ValueError:
        sys.exit(f"reading the input: there is no week {given['week']}")
    try:
        finish(aggregate(given["orders"], period))
    except (Broken, OSError) as err:
        sys.exit(f"reading the orders: {err}")


if __name__ == "__main__":
    main()
