"""The profile as Markdown that also reads well as plain text. Every value of the file stands in a code span."""


def report(profile):
    facts = [f"{profile['rows']:,} rows", f"{len(profile['columns']):,} columns", f"{profile['delimiter']} delimited", profile["encoding"]]
    lines = ["# CSV profile", "", " · ".join(facts), ""]
    if profile["remarks"]:
        lines += ["## To look at", "", *(f"- {escaped(said)}" for said in profile["remarks"]), ""]
    lines += ["## Columns", "", *table(("Column", "Type", "Empty", "Distinct", "Min", "Mean", "Max"), [
        (code(column["name"]), column["type"], share(column["empty"], column["cells"]),
         f"{column['distinct']:,}" + ("" if column["distinct_exact"] else "+"),
         figure(column.get("min")), figure(column.get("mean")), figure(column.get("max"))) for column in profile["columns"]]), ""]
    for column in profile["columns"]:
        lines += [*section(column), ""]
    if profile["malformed"]["total"]:
        lines += ["## Malformed rows", "", *(f"- line {row['line']:,}: {escaped(row['why'])}" for row in profile["malformed"]["shown"])]
        rest = profile["malformed"]["total"] - len(profile["malformed"]["shown"])
        lines += [f"- and {rest:,} more", ""] if rest else [""]
    return "\n".join(lines)


def section(column):
    lines = [f"### {code(column['name'])}", ""]
    if "quantiles" in column:
        about = "" if column["quantiles_exact"] else ", estimated"
        lines += [f"Quantiles{about}: " + ", ".join(f"{name} {figure(value)}" for name, value in column["quantiles"].items())
                  + f"; deviation {figure(column['deviation'])}.", ""]
    if column.get("longest"):
        lines += [f"From {column['shortest']:,} to {column['longest']:,} characters.", ""]
    most = column["top"][0]["count"] if column["top"] else 0
    if most > 1:
        lines += table(("Value", "Rows", "Share"), [
            (code(row["value"]), f"{row['count']:,}", share(row["count"], column["cells"])) for row in column["top"]])
    else:
        lines.append("No value comes twice." if column["top"] else "No values.")
    return lines


def table(head, rows):
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]    # a table is split before code spans are read
    widths = [max(map(len, cells)) for cells in zip(head, *rows)]
    left = 2 if head[1] == "Type" else 1
    line = lambda cells: "| " + " | ".join(
        cell.ljust(width) if i < left else cell.rjust(width) for i, (cell, width) in enumerate(zip(cells, widths))) + " |"
    rule = "|" + "|".join("-" * (width + 2) if i < left else "-" * (width + 1) + ":" for i, width in enumerate(widths)) + "|"
    return [line(head), rule, *map(line, rows)]


def figure(value):
    return "" if value is None else value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "0.0%"


def code(text):
    """A code span whose fence is one backtick longer than any run inside."""
    run = longest = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence, pad = "`" * (longest + 1), " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text.strip() else "(no name)"


def escaped(text):
    return "".join("\\" + c if c in "\\`*_[]<>&#!~|" else c for c in text)
