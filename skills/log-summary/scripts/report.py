"""The summary as Markdown that also reads well as plain text. Every word of the log stands in a code span."""

BAR = 40    # characters of the longest bar


def report(summary):
    levels = ", ".join(f"{count:,} {level}" for level, count in summary["levels"].items() if count)
    lines = ["# Log summary", "", f"{summary['entries']:,} entries in {summary['lines']:,} lines"
             + (f", {summary['continued']:,} of them continuing the one before" if summary["continued"] else ""), ""]
    if levels:
        lines += [f"**{levels}**", ""]
    if summary["time"]:
        lines += [*times(summary["time"]), ""]
    lines += section("Errors", summary["errors"], "No errors.")
    lines += section("Most frequent messages", summary["messages"], "No messages.")
    return "\n".join(lines)


def times(time):
    peak = time["peak"]
    lines = ["## Rate", "", f"From {time['first']} to {time['last']} ({time['zone']}): {time['per_minute']:,.6g} a minute on average, "
             f"{peak['entries']:,} at the peak ({peak['minute']})."]
    if time["silence"]:
        lines.append(f"Longest silence: {time['silence']['minutes']:,} minutes after {time['silence']['after']}.")
    most = max(bucket["entries"] for bucket in time["buckets"])
    lines += ["", f"Each line is {length(time['bucket_minutes'])}; `!` marks the part of errors.", "", "```text"]
    for bucket in time["buckets"]:
        bar = -(-bucket["entries"] * BAR // most)
        errors = -(-bucket["errors"] * BAR // most)
        lines.append(f"{bucket['start']}  {bucket['entries']:>9,}  {'!' * errors}{'#' * (bar - errors)}".rstrip())
    return lines + ["```"]


def section(title, rows, none):
    lines = [f"## {title}", ""]
    for row in rows:
        lines.append(f"- {row['count']:,} × {row['level']}: {code(row['pattern'])}")
        where = f"line {row['first']['line']:,}" if row["count"] == 1 else f"lines {row['first']['line']:,} to {row['last']['line']:,}"
        spans = [part["time"] for part in (row["first"], row["last"]) if part["time"]]
        lines.append(f"  {where}" + (f", {' to '.join(dict.fromkeys(spans))}" if spans else ""))
    return lines + ([""] if rows else [none, ""])


def length(minutes):
    for unit, size in (("day", 1440), ("hour", 60)):
        if minutes % size == 0:
            return f"{minutes // size:,} {unit}{'s' if minutes > size else ''}"
    return f"{minutes:,} minute{'s' if minutes > 1 else ''}"


def code(text):
    """A code span whose fence is one backtick longer than any run inside."""
    run = longest = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence, pad = "`" * (longest + 1), " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text.strip() else "(blank)"
