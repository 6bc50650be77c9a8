"""Adds order lines up by week, day and whatever a report is to be broken down by."""

import datetime

WEEK = datetime.timedelta(days=7)
THIS, LAST_WEEK, LAST_YEAR = "", "last_week_", "last_year_"
NUMBERS = ("gross_cents", "returns_cents", "net_cents", "units", "orders", "cancelled_lines")


class Period:
    """The week of a report, and the two it is compared with. A year is 52 weeks, so that weekdays match."""

    def __init__(self, iso):
        """`iso` is an ISO 8601 week such as 2026-W47. Raises ValueError when there is no such week."""
        year, week = iso.split("-W")
        self.iso, self.year, self.number = iso, int(year), int(week)
        if not 1900 <= self.year <= 9998:
            raise ValueError("a calendar has no year before it to compare with, or none after it")
        self.monday = datetime.date.fromisocalendar(self.year, self.number, 1)
        self.mondays = {self.monday: THIS, self.monday - WEEK: LAST_WEEK, self.monday - 52 * WEEK: LAST_YEAR}

    def as_json(self):
        return {"iso": self.iso, "year": self.year, "number": self.number, "from": str(self.monday),
                "to": str(self.monday + datetime.timedelta(days=6))}


class Sum:
    """What some lines come to. Gross is what was not cancelled, net is gross without what came back."""

    def __init__(self):
        self.gross = self.returns = self.units = self.cancelled = 0
        self.numbers = set()

    def add(self, line):
        if line.status == "cancelled":
            self.cancelled += 1
            return
        self.gross += line.cents
        self.numbers.add(line.order)
        if line.status == "returned":
            self.returns += line.cents
        else:
            self.units += line.quantity

    def as_json(self):
        values = (self.gross, self.returns, self.gross - self.returns, self.units, len(self.numbers), self.cancelled)
        return dict(zip(NUMBERS, values))


class Breakdown:
    """Sums by name, for the three weeks of a Period."""

    def __init__(self):
        self._sums = {}

    def add(self, name, week, line):
        self._sums.setdefault(name, {}).setdefault(week, Sum()).add(line)

    def row(self, names):
        """One row over all `names`."""
        row = {}
        for week in (THIS, LAST_WEEK, LAST_YEAR):
            sums = [self._sums[name][week] for name in names if week in self._sums[name]]
            row[week + "net_cents"] = sum(s.gross - s.returns for s in sums)
            if week == THIS:
                row["gross_cents"] = sum(s.gross for s in sums)
                row["returns_cents"] = sum(s.returns for s in sums)
                row["units"] = sum(s.units for s in sums)
        return row

    def top(self, limit):
        """The `limit` names with the most net revenue this week."""
        return [{"name": name, **self.row([name])} for name in self._ranked()[:limit]]

    def rows(self, limit, other="Other"):
        """All names in at most `limit` rows: those with the most net revenue this week, and the rest in one row."""
        rest = self._ranked()[limit - 1:]
        if len(rest) < 2:
            return self.top(limit)
        return [*self.top(limit - 1), {"name": other, **self.row(rest)}]

    def _ranked(self):
        return sorted(self._sums, key=lambda name: (-self.row([name])["net_cents"], name))

    def moved(self, limit):
        """The `limit` largest rises and falls since last week: (rises, falls), the largest first."""
        rows = [{"name": name, **self.row([name])} for name in sorted(self._sums)]
        change = lambda row: row["net_cents"] - row["last_week_net_cents"]
        rises = sorted((r for r in rows if change(r) > 0), key=lambda r: -change(r))
        falls = sorted((r for r in rows if change(r) < 0), key=change)
        return rises[:limit], falls[:limit]
