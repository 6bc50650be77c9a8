"""The report as Markdown that also reads well as plain text, 80 columns wide where names allow it."""

from words import number, not_looked_at, place, plural, printable, share, size, verdict

WIDTH = 80


def report(count, lint):
    lines = [f"# Repository report: {escaped(count['name'] or 'unnamed')}", ""]
    facts = [plural(count["files"], "file", "files"), plural(count["lines"], "line", "lines"), size(count["bytes"])]
    if count["revision"]:
        facts.append(f"revision {code(count['revision'][:12])}")
    lines += [" · ".join(facts), "", f"**{verdict(lint)}**", ""]
    if count["languages"]:
        lines += ["## Languages", "", *languages(count), ""]
    lines += ["## Findings", ""]
    for rule in lint["rules"]:
        lines += [*section(rule), ""]
    if lint["clean"]:
        lines += wrapped("Nothing found by: " + ", ".join(lint["clean"]) + ".") + [""]
    if count["directories"]:
        lines += ["## Directories", "", *table(("Directory", "Files", "Lines", "Size"), [
            (code(row["path"]), number(row["files"]), number(row["lines"]), size(row["bytes"])) for row in count["directories"]
        ]), ""]
    if count["largest"]:
        lines += ["## Largest files", "", *table(("File", "Size"), [
            (code(row["path"]), size(row["bytes"])) for row in count["largest"]]), ""]
    if count["longest"]:
        lines += ["## Longest files", "", *table(("File", "Lines", "Language"), [
            (code(row["path"]), number(row["lines"]), row["language"]) for row in count["longest"]], left=(0, 2)), ""]
    covered = not_looked_at(count, lint)
    if covered:
        lines += ["## Not looked at", "", *(f"- {escaped(sentence)}" for sentence in covered), ""]
    return "\n".join(lines)


def languages(count):
    rows = [(escaped(row["name"]), number(row["files"]), number(row["code"]), number(row["comments"]), number(row["blank"]),
             share(row["code"], count["code"])) for row in count["languages"]]
    rows.append(("**Total**", number(count["text_files"]), number(count["code"]), number(count["comments"]), number(count["blank"]), ""))
    return table(("Language", "Files", "Code", "Comment", "Blank", "Share"), rows)


def section(rule):
    """One rule's findings: the place, and below it what was found there."""
    lines = [f"### {rule['level'].capitalize()}: {escaped(rule['title'])} ({number(rule['total'])})", ""]
    for found in rule["shown"]:
        where, what = code(place(found)), code(found["text"])
        if len(where) + len(what) + 3 <= WIDTH:
            lines.append(f"- {where} {what}")
        else:
            lines += [f"- {where}", f"  {what}"]
    if rule["total"] > len(rule["shown"]):
        lines += ["", f"and {number(rule['total'] - len(rule['shown']))} more, in `findings.jsonl`."]
    return lines


def table(head, rows, left=(0,)):
    """A table whose columns line up in plain text; all but those in `left` are numbers."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]    # a table is split before code spans are read
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    line = lambda cells: "| " + " | ".join(
        cell.ljust(width) if i in left else cell.rjust(width) for i, (cell, width) in enumerate(zip(cells, widths))) + " |"
    rule = "|" + "|".join("-" * (width + 2) if i in left else "-" * (width + 1) + ":" for i, width in enumerate(widths)) + "|"
    return [line(head), rule, *map(line, rows)]


def code(text):
    """A code span, in which nothing is markup: its fence is one backtick longer than any run inside."""
    text = printable(text)
    fence = "`" * (max_run(text) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text.strip() else "(blank)"


def max_run(text):
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def escaped(text):
    """Text in which Markdown and HTML find nothing to act on."""
    return "".join("\\" + c if c in "\\`*_[]<>&#!~" else c for c in printable(text))


def wrapped(text):
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
