"""Settles what pandoc and LibreOffice leave to chance or to taste, so that the same Markdown gives the same bytes of PDF."""

import hashlib
import re
import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)    # the earliest date a ZIP can hold

# pandoc puts no r:embed where it made no bitmap of a drawing, and names the drawing only for programs newer than
# LibreOffice 7.4. Embedded like a bitmap, it stays a drawing all the way into the PDF.
BLIP = re.compile(rb'<a:blip>.*?svgBlip[^>]*r:embed="(\w+)".*?</a:blip>', re.S)
# Without distances LibreOffice assumes Word's 3.2 mm on either side, and moves a picture as wide as the text.
INLINE = re.compile(rb"<wp:inline>")
# pandoc indents a list by half an inch, wherever the reference document would have it.
LIST = re.compile(rb'w:left="720" w:hanging="480"')


def pack(path, parts):
    """Writes a ZIP of (name, bytes) pairs that says nothing of when and where it was made."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts:
            file.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED)


def docx(source, target):
    with zipfile.ZipFile(source) as file:
        parts = [(info.filename, file.read(info)) for info in file.infolist()]
    pack(target, [(name, looks(name, data)) for name, data in parts])


def looks(name, data):
    if name == "word/document.xml":
        data = BLIP.sub(rb'<a:blip r:embed="\1"/>', data)
        return INLINE.sub(b'<wp:inline distT="0" distB="0" distL="0" distR="0">', data)
    return LIST.sub(b'w:left="227" w:hanging="227"', data) if name == "word/numbering.xml" else data


# What differs between two runs (LibreOffice 7.4): the date, the two identifiers, and a checksum of its own. All three
# are written plainly, and are replaced by as many bytes, so that no offset of the file moves.
DATE = re.compile(rb"(/CreationDate\(D:)\d{14}(Z'|[+-]\d\d'\d\d')")
ID = re.compile(rb"(/ID \[ <)[0-9A-F]{32}(>\s*<)[0-9A-F]{32}(> \])")
CHECKSUM = re.compile(rb"(/DocChecksum /)[0-9A-F]{32}")


def pdf(data, date):
    """The PDF with `date` (YYYY-MM-DD, at noon) and with identifiers that follow from its bytes. Raises ValueError when it
    is not such a file as LibreOffice writes: then two runs would differ, and nobody would know."""
    day = date.replace("-", "").encode() + b"120000"
    data, dates = DATE.subn(lambda m: m[1] + day + m[2], data)
    data, ids = ID.subn(lambda m: m[1] + b"0" * 32 + m[2] + b"0" * 32 + m[3], data)
    data, sums = CHECKSUM.subn(lambda m: m[1] + b"0" * 32, data)
    if (dates, ids) != (1, 1) or sums > 1:
        raise ValueError(f"{dates} dates, {ids} identifiers and {sums} checksums where one of each is known")
    name = hashlib.sha256(data).hexdigest()[:32].upper().encode()
    data = ID.sub(lambda m: m[1] + name + m[2] + name + m[3], data)
    return CHECKSUM.sub(lambda m: m[1] + name, data)


def pages(data):
    """How many pages the PDF says it has."""
    found = re.search(rb"/Type\s*/Pages\b[^>]*?/Count\s+(\d+)", data, re.S)
    return int(found[1]) if found else 0
