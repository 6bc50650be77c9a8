"""Numbers and strangers' text as people read them. Both reports take every word they print from here."""

LEVELS = (("error", "errors"), ("warning", "warnings"), ("note", "notes"))

PASSED_OVER = {
    "links": "Symbolic and hard links, which are not followed",
    "special": "Devices, pipes and sparse files",
    "unsafe_names": "Members whose names leave the tree",
    "repeated_names": "Later members of a name already seen",
    "only_head_read": "Files over 4 MiB, of which only the head was read",
}


def number(value):
    return f"{value:,}"


def size(value):
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            break
        value, unit = value / 1024, "GiB"
    return f"{value:,} B" if unit == "B" else f"{value:,.1f} {unit}"


def plural(value, one, many):
    return f"{value:,} {one if value == 1 else many}"


def verdict(lint):
    """"2 errors, 1 warning, no notes"."""
    return ", ".join(plural(lint[many], one, many) if lint[many] else f"no {many}" for one, many in LEVELS)


def share(part, whole):
    """A percentage with one place; "<0.1" for what is there but would round to nothing."""
    percent = 100 * part / whole if whole else 0
    return "<0.1%" if 0 < percent < 0.05 else f"{percent:.1f}%"


def printable(text):
    """A stranger's text on one line, with what would not print, or would turn the line around, spelled out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def place(found):
    """"docs/a.md:12", or the path alone for a finding about the whole file."""
    return f"{found['path']}:{found['line']}" if found["line"] else found["path"]


def not_looked_at(count, lint):
    """Sentences on what the report does not cover."""
    amounts = [(what, count["passed_over"].get(key, 0)) for key, what in PASSED_OVER.items()]
    amounts += [("Scripts for a shell that was not at hand", lint["scripts"]["unchecked"]),
                ("Links to other sites, which are not contacted", lint["links"]["external"])]
    said = [f"{what}: {number(amount)}." for what, amount in amounts if amount]
    for reason in sorted({count["incomplete"], lint["incomplete"]} - {None}):
        said.append(f"The rest of an archive that holds {printable(reason)}: this report is incomplete.")
    return said
