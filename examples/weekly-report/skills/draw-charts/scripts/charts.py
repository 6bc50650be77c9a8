"""The three charts of a weekly report."""

import datetime

from scale import Scale, thousands
from svg import ACCENT, GRID, INK, MUTED, NORMAL, SMALL, SOFT, WARM, Page, breadth, fit

WIDTH = 664              # 166 mm: the text of an A4 page with margins of 22 mm
LEFT, TOP = 34, 48       # what the labels of the y axis and the titles take
WHOLE_YEAR = 53          # weeks of a trend that begins with the same week of the year before
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
DAYS = "Mon Tue Wed Thu Fri Sat Sun".split()


def grid(page, scale):
    for value, label in scale.marks():
        y = scale.at(value)
        page.line(LEFT, y, page.width, y, SOFT if value == 0 else GRID)
        page.text(LEFT - 6, y + 4, label, SMALL, SOFT, "end")


def trend(data):
    weeks = data["weeks"]
    page = Page(WIDTH, 290, "Net revenue by week", f"thousand euros, {weeks[0]['iso']} to {weeks[-1]['iso']}")
    bottom = page.height - 24
    scale = Scale([w["net_cents"] for w in weeks], bottom, TOP + 14)
    grid(page, scale)
    right = WIDTH - 30
    pace = (right - LEFT - 10) / max(1, len(weeks) - 1)
    points = [(LEFT + 10 + i * pace, scale.at(w["net_cents"])) for i, w in enumerate(weeks)]
    page.area(points, scale.at(0), "#e3f0ef")
    page.curve(points, ACCENT)
    free = 0    # where the next label of a month may begin
    for (x, _), week in zip(points, weeks):
        date = datetime.date.fromisoformat(week["from"])
        if date.day <= 7:
            page.line(x, scale.at(scale.low), x, scale.at(scale.low) + 4, SOFT)
            if x >= free:
                page.text(x, bottom + 18, MONTHS[date.month - 1], SMALL, SOFT, "middle")
                free = x + breadth("Nov", SMALL) + 8
    if len(weeks) == WHOLE_YEAR:
        x, y = points[0]
        page.line(x, y, x, scale.at(scale.low), MUTED)
        page.dot(x, y, "#ffffff", ACCENT)
        page.text(x + 6, scale.at(scale.low) - 8, f"a year ago: {thousands(weeks[0]['net_cents'])}", SMALL, SOFT)
    x, y = points[-1]
    page.dot(x, y, ACCENT, ACCENT)
    page.text(x + 8, y - 11, thousands(weeks[-1]["net_cents"]), NORMAL, INK, "end", "bold")
    return page.document()


def days(data):
    before = data["last_week"] is not None
    page = Page(WIDTH, 220, "Net revenue by day", "thousand euros")
    x = page.key(LEFT + 90, 31, ACCENT, "this week")
    if before:
        page.key(x, 31, MUTED, "the week before")
    bottom = page.height - 24
    values = [d["net_cents"] for d in data["days"]] + [d["last_week_net_cents"] for d in data["days"]]
    scale = Scale(values, bottom, TOP + 14)
    grid(page, scale)
    slot = (WIDTH - LEFT) / 7
    for i, day in enumerate(data["days"]):
        middle = LEFT + slot * (i + 0.5)
        if before:
            bar(page, scale, middle + 2, 28, day["last_week_net_cents"], MUTED)
        bar(page, scale, middle - 30, 30, day["net_cents"], ACCENT)
        page.text(middle - 15, min(scale.at(0), scale.at(day["net_cents"])) - 6, thousands(day["net_cents"]), SMALL, INK, "middle")
        date = datetime.date.fromisoformat(day["date"])
        page.text(middle, bottom + 18, f"{DAYS[i]} {date.day} {MONTHS[date.month - 1]}", SMALL, SOFT, "middle")
    return page.document()


def bar(page, scale, x, width, cents, fill):
    top, foot = sorted((scale.at(cents), scale.at(0)))
    page.rect(x, top, width, foot - top, fill)


def categories(data):
    rows, before = data["categories"], data["last_week"] is not None
    page = Page(WIDTH, TOP + 30 * len(rows) + 8, "Net revenue by category", "thousand euros")
    x = page.key(LEFT + 90, 31, ACCENT, "this week")
    if before:
        page.key(x, 31, WARM, "mark: the week before")
    label, figures = 130, 130
    scale = Scale([r["net_cents"] for r in rows] + [r["last_week_net_cents"] for r in rows], label, WIDTH - figures, marks=40)
    page.line(scale.at(0), TOP - 4, scale.at(0), page.height - 4, SOFT)
    for i, row in enumerate(rows):
        y = TOP + 30 * i
        page.text(label - 10, y + 16, fit(row["name"], label - 10, NORMAL), NORMAL, INK, "end")
        left, right = sorted((scale.at(row["net_cents"]), scale.at(0)))
        page.rect(left, y + 2, right - left, 20, ACCENT)
        if before:
            page.rect(scale.at(row["last_week_net_cents"]) - 1.5, y - 2, 3, 28, WARM)
        page.text(WIDTH - 66, y + 16, thousands(row["net_cents"]), NORMAL, INK, "end", "bold")
        if before and row["last_week_net_cents"] > 0:
            change = row["net_cents"] / row["last_week_net_cents"] - 1
            page.text(WIDTH, y + 16, f"{change:+.0%}".replace("-", "−"), NORMAL, SOFT, "end")
    return page.document()
