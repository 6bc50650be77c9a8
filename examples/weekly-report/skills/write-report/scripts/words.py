"""Figures in words: what a person reads instead of cents. No locale is asked, so the words are the same everywhere."""

import datetime

MONTHS = ("January February March April May June July August September October November December").split()
SAME = 0.0005    # a change below a twentieth of a percent is none


def euros(cents):
    """Whole euros: €198,812. Half a euro is rounded up, away from zero."""
    return ("−" if cents < 0 else "") + f"€{(abs(cents) + 50) // 100:,}"


def exact(cents):
    """Euros and cents: €211.28."""
    return ("−" if cents < 0 else "") + f"€{abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def difference(cents):
    """A change in whole euros, with its sign: +€19,875."""
    shown = euros(cents)
    return "±€0" if shown.lstrip("−") == "€0" else shown if cents < 0 else "+" + shown


def share(part, whole):
    return f"{part / whole:.1%}".replace("-", "−") if whole > 0 else "–"


def change(now, before):
    """A change in percent, with its sign: +22.4%. A dash where there is nothing to compare with."""
    if not before or before < 0:
        return "–"
    return f"{now / before - 1:+.1%}".replace("-", "−") if abs(now / before - 1) >= SAME else "±0.0%"


def points(now, before):
    """A change of a share, in percentage points: +0.8 pp."""
    moved = round(100 * (now - before), 1)
    return f"{moved:+.1f} pp".replace("-", "−") if moved else "±0.0 pp"


def dates(week):
    """The days of a week: 16–22 November 2026, 28 September – 4 October 2026, 29 December 2025 – 4 January 2026."""
    start, end = (datetime.date.fromisoformat(week[key]) for key in ("from", "to"))
    first, last = f"{start.day} {MONTHS[start.month - 1]}", f"{end.day} {MONTHS[end.month - 1]} {end.year}"
    if start.year != end.year:
        return f"{first} {start.year} – {last}"
    return f"{start.day}–{last}" if start.month == end.month else f"{first} – {last}"


def average(totals):
    """The mean order in cents: net revenue by orders, rounded half up; 0 without orders."""
    return (2 * totals["net_cents"] + totals["orders"]) // (2 * totals["orders"]) if totals["orders"] else 0


def returned(totals):
    """The part of gross revenue that came back."""
    return totals["returns_cents"] / totals["gross_cents"] if totals["gross_cents"] > 0 else 0.0


def headline(sales):
    """The week in one sentence."""
    now, before = sales["totals"]["net_cents"], sales["last_week"]
    if not before or before["net_cents"] <= 0:
        return f"Net revenue came to {euros(now)}."
    moved = now / before["net_cents"] - 1
    if abs(moved) < SAME:
        return f"Net revenue stayed at {euros(now)}."
    return f"Net revenue {'rose' if moved > 0 else 'fell'} {abs(moved):.1%} on the week before, to {euros(now)}."


def against_last_year(sales):
    """How the week compares with last year's, in one sentence; nothing where there is none to compare with."""
    before = sales["last_year"]
    if not before or before["net_cents"] <= 0:
        return ""
    moved = sales["totals"]["net_cents"] / before["net_cents"] - 1
    if abs(moved) < SAME:
        return "It is what the same week brought a year ago."
    return f"It is {abs(moved):.1%} {'above' if moved > 0 else 'below'} the same week a year ago."


def key_figures(sales):
    """(name, value, change since last week, change since last year) of the four figures that come first."""
    now, week, year = sales["totals"], sales["last_week"], sales["last_year"]

    def row(name, figure, shown, moved):
        return (name, shown(figure(now)), *(moved(figure(now), figure(then)) if then else "–" for then in (week, year)))

    return [
        row("Net revenue", lambda t: t["net_cents"], euros, change),
        row("Orders", lambda t: t["orders"], "{:,}".format, change),
        row("Average order", average, exact, change),
        row("Returned", returned, "{:.1%}".format, points),
    ]
