"""Fills a .docx template: a file made in Word or LibreOffice with placeholders such as {{headline}} in its text.

A placeholder is what a person typed, not what the program made of it: both cut a text into runs wherever they like
(ECMA-376 part 1, section 17.3.2; Word does it at each change of spelling or revision), so {{headline}} may lie in three runs.
It is looked for in the text of the whole paragraph; its value goes into the run where it begins and takes on its look.

A table row that holds {{list.field}} is repeated for each entry of the list, and taken out when there is none.
"""

import re
import zipfile
from difflib import get_close_matches
from xml.dom import minidom
from xml.parsers.expat import ExpatError

PLACEHOLDER = re.compile(r"\{\{\s*([a-z_]+)(?:\.([a-z_]+))?\s*\}\}")
PARTS = re.compile(r"word/(document|header\d*|footer\d*)\.xml")
PROPERTIES = "docProps/core.xml"
EPOCH = (1980, 1, 1, 0, 0, 0)    # the earliest date a ZIP can hold
MAX_PART = 16 << 20


class Unfit(Exception):
    """The template cannot be filled with these values; the message says what is wrong."""


def fill(template, target, values):
    """Writes the template with its placeholders filled. `values` are texts, and lists of dicts of texts, by name."""
    with zipfile.ZipFile(template) as source, zipfile.ZipFile(target, "w") as out:
        for info in source.infolist():
            if info.file_size > MAX_PART:
                raise Unfit(f"{info.filename} is larger than {MAX_PART >> 20} MiB")
            data = source.read(info)
            if PARTS.fullmatch(info.filename):
                data = part(data, values)
            elif info.filename == PROPERTIES:
                data = properties(data, values)
            # Nothing of the template's own dates, nor of the machine, so that equal values give equal bytes.
            out.writestr(zipfile.ZipInfo(info.filename, EPOCH), data, zipfile.ZIP_DEFLATED)


def part(data, values):
    document = parse(data)
    done = set()    # paragraphs that are filled already: a value is never looked through for placeholders
    for row in list(document.getElementsByTagName("w:tr")):
        done.update(repeat(row, values))
    for paragraph in document.getElementsByTagName("w:p"):
        if paragraph not in done:
            fill_texts(texts(paragraph), values)
    return document.toxml(encoding="UTF-8", standalone=True)


def parse(data):
    # minidom keeps prefixes and declarations as they are: Word refuses a file in which mc:Ignorable names a lost one.
    try:
        return minidom.parseString(data)
    except ExpatError as err:
        raise Unfit(f"a part of the template is not XML: {err}") from None


def repeat(row, values):
    """Puts one copy of the row, filled, for each entry of the list that its placeholders name. Returns what it filled."""
    paragraphs = row.getElementsByTagName("w:p")
    lists = {m[1] for p in paragraphs for m in PLACEHOLDER.finditer(joined(texts(p))) if m[2]}
    if not lists:
        return []
    if len(lists) > 1:
        raise Unfit(f"one row names several lists: {', '.join(sorted(lists))}")
    name, filled = lists.pop(), []
    for entry in look_up(values, name, list):
        copy = row.cloneNode(deep=True)
        row.parentNode.insertBefore(copy, row)
        for paragraph in copy.getElementsByTagName("w:p"):
            fill_texts(texts(paragraph), {**values, name: entry})
            filled.append(paragraph)
    row.parentNode.removeChild(row)
    return filled


def texts(paragraph):
    """The w:t elements of a paragraph, but for those of a paragraph inside it, as a text box has."""
    return [t for t in paragraph.getElementsByTagName("w:t") if owner(t) is paragraph]


def owner(node):
    while node.nodeName != "w:p":
        node = node.parentNode
    return node


def content(element):
    return "".join(child.data for child in element.childNodes if child.nodeType == child.TEXT_NODE)


def joined(elements):
    return "".join(map(content, elements))


def fill_texts(elements, values):
    """Fills the placeholders in the text that the elements make together."""
    whole = joined(elements)
    if "{{" in PLACEHOLDER.sub("", whole):
        raise Unfit(f"a placeholder is not closed, or its name is not plain: {whole[:80]!r}")
    # From the last to the first, so that what is filled in moves no place that is still to be filled.
    for match in reversed(list(PLACEHOLDER.finditer(whole))):
        put(elements, match.start(), match.end(), value(match, values))


def put(elements, start, end, filled):
    """Replaces the text from `start` to `end`, counted over all elements; the value goes where it begins."""
    at = 0
    for element in elements:
        text = content(element)
        first, last = max(start - at, 0), min(end - at, len(text))
        if first < last:
            write(element, text[:first] + (filled if at <= start else "") + text[last:])
        at += len(text)


def write(element, text):
    for child in list(element.childNodes):
        element.removeChild(child)
    element.appendChild(element.ownerDocument.createTextNode(text))
    if element.nodeName == "w:t":
        element.setAttribute("xml:space", "preserve")


def value(match, values):
    name, field = match.groups()
    if field is None:
        return clean(look_up(values, name, str))
    if isinstance(values.get(name), list):
        raise Unfit(f"{{{{{name}.{field}}}}} stands outside of a table row")
    return clean(look_up(look_up(values, name, dict), field, str))


def look_up(values, name, kind):
    if not isinstance(values.get(name), kind):
        near = get_close_matches(name, values, 1)
        raise Unfit(f"the template names {name!r}, which there is no value for" + (f"; is it {near[0]!r}?" if near else ""))
    return values[name]


def clean(text):
    """What XML 1.0 cannot hold becomes a question mark."""
    return "".join(c if c >= " " and not 0xD800 <= ord(c) <= 0xDFFF and c not in "\ufffe\uffff" else "?" for c in text)


def properties(data, values):
    """The document's properties, such as its title: plain elements without runs."""
    document = parse(data)
    for element in document.documentElement.childNodes:
        if element.nodeType == element.ELEMENT_NODE:
            fill_texts([element], values)
    return document.toxml(encoding="UTF-8", standalone=True)
