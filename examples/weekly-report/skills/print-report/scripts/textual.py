"""Writes a PDF so that all of it is text, for whom takes text only: a tool that writes a file from a string, a mail, a form.

It is the same document, a quarter larger. What is compressed in it is written in letters (ASCII85, ISO 32000-1, 7.4.3),
which every reader of PDF knows, and the table of where each object begins is made anew (7.5.4)."""

import base64
import re

XREF = re.compile(rb"xref\n0 (\d+)\n")
STREAM = re.compile(rb"(\d+ 0 obj\n<<)(.*)(>>\nstream\n)\Z", re.S)
LENGTH = re.compile(rb"/Length (\d+)( 0 R)?")
NUMBER = re.compile(rb"\d+ 0 obj\n(\d+)\nendobj")
FILTER = re.compile(rb"/Filter ?(/\w+)")


def pdf(data):
    """The PDF as text. Raises ValueError when it is not such a file as LibreOffice writes."""
    start = re.search(rb"startxref\n(\d+)\n%%EOF\n\Z", data)
    table = start and XREF.match(data, int(start[1]))
    if not table:
        raise ValueError("the PDF has no table of its objects at its end")
    count, first = int(table[1]), table.end()
    entries = [data[first + 20 * i:first + 20 * (i + 1)] for i in range(count)]
    at = {number: int(entry[:10]) for number, entry in enumerate(entries) if entry[17:18] == b"n"}
    order = sorted(at, key=at.get)
    if not order:
        raise ValueError("the PDF has no objects")
    ends = [at[number] for number in order[1:]] + [int(start[1])]
    objects = {number: data[at[number]:end] for number, end in zip(order, ends)}
    for number in order:
        spell(objects, number)
    out, places = data[:at[order[0]]], {}
    for number in order:
        places[number] = len(out)
        out += objects[number]
    lines = [b"%010d %s" % (places[number], entry[11:]) if number in places else entry for number, entry in enumerate(entries)]
    out += table[0] + b"".join(lines) + data[first + 20 * count:start.start()] + b"startxref\n%d\n%%%%EOF\n" % len(out)
    if b"\0" in out:
        raise ValueError("the PDF has a NUL outside of what is compressed")
    out.decode("utf-8")    # raises UnicodeDecodeError, which is a ValueError
    return out


def spell(objects, number):
    """Writes the stream of an object in letters, when it has one."""
    body = objects[number]
    cut = body.find(b">>\nstream\n")
    if cut < 0:
        return
    cut += len(b">>\nstream\n")
    head = STREAM.match(body[:cut])
    length = head and LENGTH.search(head[2])
    if not length or b"/DecodeParms" in head[2]:
        raise ValueError(f"object {number} of the PDF is a stream of an unknown form")
    size = int(length[1])
    if length[2]:    # the length is an object of its own
        owner = size
        kept = NUMBER.match(objects.get(owner, b""))
        if not kept:
            raise ValueError(f"object {owner} of the PDF is no length")
        size = int(kept[1])
    letters = base64.a85encode(body[cut:cut + size], wrapcol=76) + b"~>"
    entries = head[2]
    if length[2]:
        objects[owner] = b"%d 0 obj\n%d\nendobj\n\n" % (owner, len(letters))
    else:
        entries = LENGTH.sub(b"/Length %d" % len(letters), entries)
    found = FILTER.search(entries)
    if found:
        entries = entries.replace(found[0], b"/Filter[/ASCII85Decode" + found[1] + b"]")
    else:
        entries += b"/Filter/ASCII85Decode"
    objects[number] = head[1] + entries + head[3] + letters + body[cut + size:]
