"""Order lines out of a CSV. What cannot be read is counted and shown, never guessed; amounts are whole cents."""

import csv
import datetime
import functools
import re
from collections import namedtuple

COLUMNS = ("order_id", "line", "placed_at", "channel", "country", "category", "product", "quantity", "unit_price",
           "discount_pct", "status")
STATUSES = {"shipped", "returned", "cancelled"}
MAX_ROWS = 2_000_000
MAX_NAME = 60          # characters of a channel, country, category or product; longer ones are cut
EXAMPLES = 5           # unreadable rows that are shown
TOLERATED = 50         # one row in so many may be unreadable before the file as a whole is refused

DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?", re.ASCII)
PRICE = re.compile(r"(\d{1,7})(?:\.(\d{1,2}))?", re.ASCII)
COUNT = re.compile(r"\d{1,5}", re.ASCII)

Line = namedtuple("Line", "order date channel country category product quantity cents status")


class Broken(Exception):
    """The file as a whole cannot be used; the message says why."""


class Orders:
    """The order lines of one file. After lines() has ended: how many rows there were, and what was left out."""

    def __init__(self, path):
        self.path, self.rows, self.repeated, self.unreadable, self.examples = path, 0, 0, 0, []

    def lines(self):
        """Yields a Line for each row; a repeated (order_id, line) and an unreadable row are counted instead."""
        seen = set()
        try:
            with open(self.path, encoding="utf-8-sig", newline="") as file:
                reader = csv.reader(file)
                at = self._header(next(reader, []))
                for row in reader:
                    if not row:
                        continue
                    self.rows += 1
                    if self.rows > MAX_ROWS:
                        raise Broken(f"more than {MAX_ROWS:,} rows")
                    try:
                        line = read(row, at)
                        key = row[at[0]], row[at[1]]
                    except ValueError as err:
                        self._leave_out(reader.line_num, str(err))
                        continue
                    if key in seen:
                        self.repeated += 1
                        continue
                    seen.add(key)
                    yield line
        except UnicodeDecodeError:
            raise Broken(f"it is not UTF-8 (row {self.rows + 1} or soon after)") from None
        except csv.Error as err:
            raise Broken(f"it is not a CSV (row {self.rows + 1}: {err})") from None
        if self.unreadable * TOLERATED > self.rows:
            raise Broken(f"{self.unreadable:,} of {self.rows:,} rows cannot be read, such as line "
                         f"{self.examples[0]['line']}: {self.examples[0]['reason']}")

    def _header(self, names):
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            raise Broken(f"the first row lacks the column {', '.join(missing)}")
        return [names.index(name) for name in COLUMNS]

    def _leave_out(self, number, reason):
        self.unreadable += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append({"line": number, "reason": reason})


def read(row, at):
    """The Line of one row. Raises ValueError with the column's name and what is wrong with it."""
    if len(row) <= max(at):
        raise ValueError(f"{len(row)} fields where {max(at) + 1} are needed")
    order, _, placed, channel, country, category, product, quantity, price, discount, status = (row[i].strip() for i in at)
    count = whole(quantity)
    if not count:
        raise ValueError("quantity is no whole number above 0")
    cents = money(price)
    if cents is None:
        raise ValueError("unit_price is no amount such as 19.90")
    percent = whole(discount)
    if percent is None or percent > 100:
        raise ValueError("discount_pct is no whole number from 0 to 100")
    if status not in STATUSES:
        raise ValueError("status is none of shipped, returned, cancelled")
    date = day(placed[:10]) if DATE.fullmatch(placed) else None
    if date is None:
        raise ValueError("placed_at is no date such as 2026-11-16T09:30")
    # Half a cent is rounded up, line by line, as the invoice does.
    amount = (count * cents * (100 - percent) * 2 + 100) // 200
    return Line(order, date, clean(channel), clean(country), clean(category), clean(product), count, amount, status)


# A file has many rows and few different dates, amounts and names: each is looked at once.
once = functools.lru_cache(maxsize=10_000)


@once
def whole(text):
    return int(text) if COUNT.fullmatch(text) else None


@once
def money(text):
    match = PRICE.fullmatch(text)
    return int(match[1]) * 100 + int((match[2] or "").ljust(2, "0")) if match else None


@once
def day(text):
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


@once
def clean(name):
    """A name fit to be printed: white space and what does not print become a space, what is too long is cut."""
    name = " ".join("".join(c if c.isprintable() else " " for c in name[:4 * MAX_NAME]).split())
    return (name if len(name) <= MAX_NAME else name[:MAX_NAME - 1].rstrip() + "…") or "(none)"
