"""The report as one HTML file: no script, nothing loaded, light and dark. Every word of a stranger goes through text()."""

from words import LEVELS, number, not_looked_at, place, plural, printable, share, size, verdict

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
COLOURS = 8    # --c1 to --c8 in the style; later languages share --c0
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def report(count, lint, style):
    name = text(count["name"] or "Repository")
    body = [header(name, count, lint)]
    if count["code"]:
        body.append(languages(count))
    body.append(findings(lint))
    if count["directories"]:
        body.append(directories(count))
    if count["largest"]:
        body.append('<div class="pair">' + largest(count) + longest(count) + "</div>")
    covered = not_looked_at(count, lint)
    if covered:
        body.append(section("Not looked at", "<ul>" + "".join(f"<li>{text(said)}</li>" for said in covered) + "</ul>"))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{name}: repository report</title>
<style>
{style.strip()}
</style>
</head>
<body>
<main>
{chr(10).join(body)}
</main>
</body>
</html>
"""


def header(name, count, lint):
    tiles = [(number(count["files"]), "files"), (number(count["lines"]), "lines"), (number(count["code"]), "of code"),
             (size(count["bytes"]), "in all")]
    revision = f'<p class="quiet">Revision <code>{text(count["revision"][:12])}</code></p>' if count["revision"] else ""
    levels = "".join(f'<span class="badge {one}{"" if lint[many] else " none"}">{plural(lint[many], one, many)}</span>'
                     for one, many in LEVELS)
    return (f'<header><p class="quiet">Repository report</p><h1>{name}</h1>{revision}<p aria-label="{text(verdict(lint))}">{levels}</p>'
            '<dl class="tiles">' + "".join(f"<div><dt>{what}</dt><dd>{value}</dd></div>" for value, what in tiles) + "</dl></header>")


def languages(count):
    rows, bar = [], []
    for i, row in enumerate(count["languages"], 1):
        colour = f"var(--c{i if i <= COLOURS else 0})"
        part = share(row["code"], count["code"])
        width = 100 * row["code"] / count["code"]
        bar.append(f'<span style="width:{width:.3f}%;background:{colour}" title="{text(row["name"])} {text(part)}"></span>')
        rows.append((f'<i class="dot" style="background:{colour}"></i>{text(row["name"])}', number(row["files"]), number(row["code"]),
                     number(row["comments"]), number(row["blank"]), text(part)))
    chart = f'<div class="stack" role="img" aria-label="Share of code by language">{"".join(bar)}</div>'
    return section("Languages", chart + table("languages", ("Language", "Files", "Code", "Comment", "Blank", "Share"), rows))


def directories(count):
    most = max(row["lines"] for row in count["directories"]) or 1
    rows = [(f"<code>{text(row['path'])}</code>", number(row["files"]), meter(row["lines"], most), number(row["lines"]),
             size(row["bytes"])) for row in count["directories"]]
    return section("Directories", table("bars", ("Directory", "Files", "", "Lines", "Size"), rows))


def largest(count):
    most = count["largest"][0]["bytes"] or 1
    return section("Largest files", table("bars", ("File", "", "Size"), [
        (f"<code>{text(row['path'])}</code>", meter(row["bytes"], most), size(row["bytes"])) for row in count["largest"]]))


def longest(count):
    if not count["longest"]:
        return ""
    most = count["longest"][0]["lines"]
    return section("Longest files", table("bars", ("File", "", "Lines"), [
        (f"<code>{text(row['path'])}</code>", meter(row["lines"], most), number(row["lines"])) for row in count["longest"]]))


def findings(lint):
    parts = []
    for rule in lint["rules"]:
        opened = "" if rule["level"] == "note" else " open"
        items = "".join(f"<li><code>{text(place(found))}</code><span>{text(found['text'])}</span></li>" for found in rule["shown"])
        rest = rule["total"] - len(rule["shown"])
        more = f'<p class="quiet">and {number(rest)} more, in findings.jsonl</p>' if rest > 0 else ""
        parts.append(f'<details{opened}><summary><span class="badge {text(rule["level"])}">{text(rule["level"])}</span>'
                     f'{text(rule["title"])}<b>{number(rule["total"])}</b></summary><ul class="found">{items}</ul>{more}</details>')
    if lint["clean"]:
        parts.append(f'<p class="quiet">Nothing found by {text(", ".join(lint["clean"]))}.</p>')
    return section("Findings", "".join(parts))


def section(title, inner):
    return f"<section><h2>{title}</h2>{inner}</section>"


def table(kind, head, rows):
    cells = lambda tag, row: "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>"
    return (f'<div class="wide"><table class="{kind}"><thead>' + cells("th", head) + "</thead><tbody>"
            + "".join(cells("td", row) for row in rows) + "</tbody></table></div>")


def meter(value, most):
    return f'<span class="meter"><i style="width:{100 * value / most:.1f}%"></i></span>'


def text(words):
    return printable(words).translate(ENTITIES)
