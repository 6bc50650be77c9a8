#!/usr/bin/env python3
"""Writes a day's visits, with what is noted about each customer, as out/sheet.md. Prints one JSON object."""

import datetime
import os
import re
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

from notes import notes_on
from visits import clock, read_visits, warnings
from world import finish, step_input


def main():
    given = step_input("date", "city", "visits", "weather", "daylight")
    try:
        day = datetime.date.fromisoformat(given["date"])
        visits = read_visits(given["visits"])
    except ValueError as err:
        sys.exit(f"reading the input: {err}")
    notes = {}
    for visit in visits:
        if visit.customer not in notes:
            notes[visit.customer] = notes_on(visit.customer)
    said = warnings(visits, given["weather"]["conditions"], given["daylight"])
    os.makedirs("out", exist_ok=True)
    with open("out/sheet.md", "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(sheet(day, given, visits, notes, said)) + "\n")
    finish({
        "sheet": "sheet.md", "visits": len(visits), "noted": sum(text is not None for _, text in notes.values()),
        "warnings": [f"{clock(visit.start)} {visit.customer}: {words}" for visit, list_ in zip(visits, said) for words in list_],
    })


def plain(text):
    """Text of a service or a table that Markdown does nothing with."""
    return re.sub(r"([\\`*_\[\]<>|&!#~^$])", r"\\\1", " ".join(text.split()))


def sheet(day, given, visits, notes, said):
    """The lines of the sheet."""
    weather, daylight = given["weather"], given["daylight"]
    lines = [
        f"# {day:%A} {day.day} {day:%B %Y}, {plain(given['city'])}", "",
        f"{plain(weather['conditions'])}, humidity {weather['humidity']:g}% · daylight {daylight['sunrise']} to {daylight['sunset']}", "",
        f"{len(visits)} visits, {sum(visit.outdoors for visit in visits)} of them outdoors." if visits else "No visits.",
    ]
    shown = set()
    for visit, words in zip(visits, said):
        name, text = notes[visit.customer]
        lines += ["", f"## {clock(visit.start)}–{clock(visit.end)} {name}", "", f"{plain(visit.work)} ({'outdoors' if visit.outdoors else 'indoors'})"]
        lines += ["", *(f"- **Mind:** {plain(each)}" for each in words)] if words else []
        if visit.customer not in shown:
            lines += ["", text or "Nothing is noted."]
            shown.add(visit.customer)
    return lines


if __name__ == "__main__":
    main()
