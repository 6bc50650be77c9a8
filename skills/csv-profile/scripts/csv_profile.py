#!/usr/bin/env python3
"""Profiles a CSV file: out/profile.md for people, out/profile.json in full, and one JSON object as the result."""

import json
import os
import sys

sys.dont_write_bytecode = True    # a bundle is pinned file by file: running a script by hand must not add to it

from column import Budget, Column
from judgement import describe, remarks
from report import report
from table import NAMES, Broken, Table
from world import finish, step_input

BATCH_ROWS, BATCH_CELLS = 4_000, 200_000
IN_RESULT = 60    # columns in the step's result; profile.json has all
DELIMITERS = {name: sign for sign, name in NAMES.items()}


def profile(path, delimiter, header, top):
    table = Table(path, DELIMITERS.get(delimiter), header)
    budget, rows = Budget(), 0
    columns = [Column(name, budget) for name in table.header]
    for batch in batches(table.rows(), len(columns)):
        rows += len(batch)
        for column, values in zip(columns, zip(*batch)):
            column.add(values)
    for column in columns:
        column.finish()
    described = [describe(column, top) for column in columns]
    return {
        "rows": rows, "encoding": table.encoding, "delimiter": NAMES[table.delimiter], "header": header,
        "blank_lines": table.blank, "undecodable_lines": table.undecodable,
        "malformed": {"total": table.malformed_total, "shown": table.malformed},
        "remarks": remarks(table, described), "columns": described,
    }


def batches(rows, width):
    """Lists of rows: turning many at once into columns is what makes this fast."""
    batch, limit = [], min(BATCH_ROWS, BATCH_CELLS // width + 1)
    for row in rows:
        batch.append(row)
        if len(batch) == limit:
            yield batch
            batch = []
    if batch:
        yield batch


def result(whole):
    """The profile, small enough to hand from step to step."""
    keys = ("name", "type", "empty", "distinct", "unique", "min", "mean", "max")
    columns = [{key: column[key] for key in keys if key in column} for column in whole["columns"][:IN_RESULT]]
    return whole | {"columns": columns, "columns_total": len(whole["columns"]), "remarks": whole["remarks"][:IN_RESULT]}


def main():
    given = step_input("file")
    try:
        whole = profile(given["file"], given.get("delimiter"), given.get("header") is not False, given.get("top") or 10)
    except (Broken, OSError) as err:
        sys.exit(f"reading the table {os.path.basename(given['file'])!r}: {err}")
    os.makedirs("out", exist_ok=True)
    write("out/profile.json", json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write("out/profile.md", report(whole))
    finish(result(whole))


def write(path, content):
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(content)


if __name__ == "__main__":
    main()
