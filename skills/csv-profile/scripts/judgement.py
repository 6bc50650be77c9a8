"""What the profile says of a column: its type, its figures, and what a person should look at."""

from math import isfinite

MOSTLY = 0.95    # part of a column's values that must be of one kind for the rest to be odd ones out
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CUT = 80         # characters of a value that are shown


def describe(column, top):
    """One column as an object of the profile. Figures that do not apply are absent."""
    empty = column.kinds.get("empty", 0)
    filled = column.cells - empty
    kinds = {kind: count for kind, count in sorted(column.kinds.items()) if kind != "empty"}
    kind, odd = type_of(kinds, filled)
    seen = [(value, count) for value, count in column.counts.items() if value.strip()]
    about = {
        "name": shown(column.name), "type": kind, "cells": column.cells, "empty": empty,
        "distinct": len(seen), "distinct_exact": column.exact,
        "unique": column.exact and filled > 1 and len(seen) == filled == column.cells,
        "kinds": kinds, "spaced": column.spaced,
        "top": [{"value": shown(value), "count": count} for value, count in sorted(seen, key=lambda pair: (-pair[1], pair[0]))[:top]],
    }
    if odd:
        about["odd"] = [shown(value) for other in odd for value in column.examples[other]][:5]
    if kind in ("integer", "decimal"):
        numbers = column.numbers
        plain = (lambda value: value) if kind == "integer" and "decimal" not in kinds else rounded
        about |= {"min": plain(numbers.low), "max": plain(numbers.high), "mean": rounded(numbers.mean),
                  "deviation": rounded(numbers.deviation()),
                  "quantiles": dict(zip(("p5", "p25", "p50", "p75", "p95"), map(plain, numbers.quantiles(*QUANTILES)))),
                  "quantiles_exact": not numbers.estimated}
    elif kind in ("date", "datetime"):
        about |= {"min": column.low, "max": column.high}
    elif kind in ("text", "code", "mixed"):
        about |= {"shortest": column.shortest, "longest": column.longest}
    return about


def type_of(kinds, filled):
    """The column's type, and the kinds that are the odd ones out in it."""
    if not filled:
        return "empty", []
    groups = dict(kinds)
    for wide, narrow in (("decimal", "integer"), ("datetime", "date"), ("code", "integer")):    # the wide kind takes the narrow one in
        if wide in groups and narrow in groups:
            groups[wide] += groups.pop(narrow)
    kind = max(sorted(groups), key=groups.get)
    if groups[kind] == filled:
        return kind, []
    if groups[kind] >= MOSTLY * filled:
        return kind, [other for other in groups if other != kind]
    return ("text", []) if "text" in groups and groups["text"] * 2 >= filled else ("mixed", [])


def remarks(table, columns):
    """Sentences on what to look at, in the order of the columns."""
    said = []
    names = [column["name"] for column in columns]
    for name in sorted({name for name in names if names.count(name) > 1}):
        said.append(f"The header has {quoted(name)} {names.count(name)} times.")
    if table.malformed_total:
        said.append(f"Not in the figures: {table.malformed_total:,} malformed row{'s' if table.malformed_total > 1 else ''}.")
    if table.undecodable:
        said.append(f"Bytes that are not {table.encoding}: in {table.undecodable:,} line{'s' if table.undecodable > 1 else ''}.")
    for column in columns:
        name, filled = quoted(column["name"]), column["cells"] - column["empty"]
        if not column["cells"]:
            continue
        if column["type"] == "empty":
            said.append(f"{name} is empty.")
        elif column["empty"] * 2 > column["cells"]:
            said.append(f"{name} is empty in {100 * column['empty'] / column['cells']:.0f}% of the rows.")
        if filled > 1 and column["distinct"] == 1 and column["distinct_exact"]:
            said.append(f"{name} has one value only.")
        if column["unique"]:
            said.append(f"{name} is different in every row: it can serve as a key.")
        if "odd" in column:
            said.append(f"{name} is {column['type']} but for some values, such as {quoted(column['odd'][0])}.")
        if column["spaced"]:
            said.append(f"{name} has white space around {column['spaced']:,} value{'s' if column['spaced'] > 1 else ''}.")
    return said


def rounded(value):
    """Ten significant digits: what is beyond depends on the order of adding up. None when it passed a float's range."""
    return float(f"{value:.10g}") if isfinite(value) else None


def quoted(text):
    return f'"{text}"'


def shown(value):
    """A value on one line, without what would not print, cut to CUT characters."""
    text = value.strip()
    text = text if len(text) <= CUT else text[:CUT - 1] + "…"
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
