"""The headers of a tar: what they say, and whether they are sound. They come from strangers: wrong is Broken, never a guess.

Formats: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Interchange Format"; GNU tar manual, "Basic Tar Format".
"""

from unpack import Broken


class Header:
    """The fields of one 512-byte header. Raises Broken when its checksum or a number is wrong."""

    def __init__(self, block):
        if sum(block) - sum(block[148:156]) + 8 * 32 != number(block[148:156]):
            raise Broken("it is not a tar, or it is damaged: a header's checksum is wrong")
        text = lambda start, end: block[start:end].split(b"\0", 1)[0]
        self.kind, self.mode, self.size = block[156:157], number(block[100:108]), number(block[124:136])
        self.name, self.link = text(0, 100), text(157, 257)
        if block[257:263] == b"ustar\0" and block[345]:
            self.name = text(345, 500) + b"/" + self.name


def number(field):
    """An octal number, or GNU's base 256 when the first bit is set."""
    if field[0] & 0x80:
        return int.from_bytes(field, "big") & ((1 << (8 * len(field) - 1)) - 1)
    digits = field.split(b"\0", 1)[0].strip()
    if digits.strip(b"01234567"):
        raise Broken("it is not a tar, or it is damaged: a header holds a wrong number")
    return int(digits or b"0", 8)


def pax(data):
    """The records `LENGTH KEY=VALUE\\n` of an extended header; LENGTH counts the whole record."""
    records, at = {}, 0
    while at < len(data):
        digits = data[at:at + 8].split(b" ", 1)[0]
        end = at + (int(digits) if digits.isdigit() else 0)
        key, equals, value = data[at + len(digits) + 1:end - 1].partition(b"=")
        sound = at + len(digits) + 2 < end <= len(data) and equals
        if not sound or key == b"size" and not (value.isdigit() and len(value) < 20):
            raise Broken("a record of an extended header is damaged")
        records[key] = value
        at = end
    return records
