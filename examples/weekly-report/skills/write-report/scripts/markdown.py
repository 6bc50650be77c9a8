"""The report as Markdown, for pandoc and for readers of plain text. Names come from a stranger's file and are escaped."""

import re

from words import against_last_year, change, dates, difference, euros, headline, key_figures, returned, share

SPECIAL = re.compile(r"([\\`*_\[\]<>|&!#~^$@{}])")    # what can mean something inside a line
WIDEST = 34                                             # columns are padded up to this, to line up in plain text


def md(name):
    return SPECIAL.sub(r"\\\1", name)


def table(head, rows, right):
    """A pipe table that lines up. `right` are the columns of figures."""
    width = [min(WIDEST, max(len(row[i]) for row in [head, *rows])) for i in range(len(head))]
    pad = lambda row: "| " + " | ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, width))) + " |"
    rule = "|" + "|".join("-" * (w + 1) + ":" if i in right else "-" * (w + 2) for i, w in enumerate(width)) + "|"
    return "\n".join([pad(head), rule, *map(pad, rows)])


def report(sales):
    week = sales["week"]
    parts = [
        "# Weekly sales report",
        f"Week {week['number']} of {week['year']} · {dates(week)}",
        f"**{headline(sales)}** {against_last_year(sales)}".rstrip(),
        figures(sales),
        "## The week in its year",
        f"![{headline(sales)}](trend.svg)",
        "## What moved",
        moved(sales),
        "---",    # the parts of the report; print-report begins a page at each
        "## Day by day",
        "![Net revenue of each day, with the week before](days.svg)",
        "## Categories",
        "![Net revenue of each category, with the week before](categories.svg)",
        "## Channels",
        breakdown("Channel", sales["channels"], sales),
        "---",
        "## Countries",
        breakdown("Country", sales["countries"], sales),
        "## Best-selling products",
        products(sales),
        "## About these figures",
        notes(sales),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def figures(sales):
    rows = list(zip(*key_figures(sales)))
    names, values, week, year = rows
    lines = [values]
    if sales["last_week"]:
        lines.append([f"{moved} on last week" for moved in week])
    if sales["last_year"]:
        lines.append([f"{moved} on last year" for moved in year])
    return table(names, lines, ())


def moved(sales):
    if not sales["last_week"]:
        return "There is no week before to compare with."
    rows = [(row, row["net_cents"] - row["last_week_net_cents"]) for row in sales["rises"] + sales["falls"]]
    if not rows:
        return "No product sold for more or less than the week before."
    return table(
        ["Product", "Net revenue", "Week before", "Change", "In percent"],
        [[md(r["name"]), euros(r["net_cents"]), euros(r["last_week_net_cents"]), difference(moved),
          change(r["net_cents"], r["last_week_net_cents"])] for r, moved in rows],
        range(1, 5))


def breakdown(name, rows, sales):
    whole = sales["totals"]["net_cents"]
    return table(
        [name, "Net revenue", "Share", "On last week", "On last year", "Returned"],
        [[md(r["name"]), euros(r["net_cents"]), share(r["net_cents"], whole), change(r["net_cents"], r["last_week_net_cents"]),
          change(r["net_cents"], r["last_year_net_cents"]), f"{returned(r):.1%}"] for r in rows]
        + [[f"**{cell}**" for cell in total(sales)]],
        range(1, 6))


def total(sales):
    totals = sales["totals"]
    return ["Total", euros(totals["net_cents"]), share(totals["net_cents"], totals["net_cents"]), *key_figures(sales)[0][2:],
            f"{returned(totals):.1%}"]


def products(sales):
    return table(
        ["Product", "Category", "Units", "Net revenue", "On last week"],
        [[md(r["name"]), md(r["category"]), f"{r['units']:,}", euros(r["net_cents"]), change(r["net_cents"], r["last_week_net_cents"])]
         for r in sales["products"]],
        range(2, 5))


def notes(sales):
    rows, totals = sales["rows"], sales["totals"]
    lines = [
        "- Net revenue is what was ordered at the price paid, without what was cancelled or returned. A line counts in the week it was ordered.",
        "- “On last year” compares with the week 52 weeks earlier, so that weekdays match.",
        f"- {rows['read']:,} rows were read; {rows['used']:,} are of this week, {totals['cancelled_lines']:,} of them cancelled.",
    ]
    if rows["repeated"]:
        lines.append(f"- {rows['repeated']:,} repeated rows were counted once.")
    if rows["unreadable"]:
        first = rows["examples"][0]
        lines.append(f"- {rows['unreadable']:,} rows could not be read and are in no figure, such as line {first['line']:,}: {md(first['reason'])}.")
    return "\n".join(lines)
