#!/usr/bin/env python3
"""Fills templates/summary.docx with what `aggregate-sales` found, as out/summary.docx. Prints one JSON object."""

import os
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

import zipfile

from template import Unfit, fill
from words import against_last_year, change, dates, difference, euros, headline, key_figures, returned
from world import finish, step_input

PRODUCTS = 5    # the summary is one page


def values(sales):
    """What the template may name. A list goes into a table row; all else stands anywhere."""
    week = sales["week"]
    return {
        "week": f"Week {week['number']} of {week['year']}",
        "dates": dates(week),
        "last_day": week["to"],
        "headline": headline(sales),
        "against_last_year": against_last_year(sales),
        "figure": [dict(zip(("name", "value", "on_last_week", "on_last_year"), row)) for row in key_figures(sales)],
        "country": [{
            "name": r["name"], "revenue": euros(r["net_cents"]), "on_last_week": change(r["net_cents"], r["last_week_net_cents"]),
            "returned": f"{returned(r):.1%}",
        } for r in sales["countries"]],
        "product": [{
            "name": r["name"], "units": f"{r['units']:,}", "revenue": euros(r["net_cents"]),
            "change": difference(r["net_cents"] - r["last_week_net_cents"]) if sales["last_week"] else "–",
        } for r in sales["products"][:PRODUCTS]],
    }


def main():
    sales = step_input("sales")["sales"]
    bundle = os.environ.get("JOY_SKILL_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    os.makedirs("out", exist_ok=True)
    try:
        fill(os.path.join(bundle, "templates", "summary.docx"), "out/summary.docx", values(sales))
    except (Unfit, OSError, zipfile.BadZipFile) as err:
        sys.exit(f"filling the template: {err}")
    finish({"summary": "summary.docx", "bytes": os.path.getsize("out/summary.docx")})


if __name__ == "__main__":
    main()
