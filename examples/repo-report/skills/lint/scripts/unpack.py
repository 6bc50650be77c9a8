"""The bytes of an archive, decompressed as they are asked for. At most one piece is held; the total is bounded."""

import zlib

MAX_TOTAL = 512 << 20     # bytes after decompression; a source tree is far below, a bomb is not
PIECE = 1 << 20

FOREIGN = {b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


class Broken(Exception):
    """The archive cannot be read; the text says why."""


class TooBig(Exception):
    """The archive passes a cap; what was read before is good."""


class Source:
    def __init__(self, file):
        head = file.read(6)
        file.seek(0)
        for magic, name in FOREIGN.items():
            if head.startswith(magic):
                raise Broken(f"it is compressed with {name}: give a tar that is plain or gzip")
        if not head:
            raise Broken("it is empty")
        self._file = file
        self._gzip = zlib.decompressobj(31) if head[:2] == b"\x1f\x8b" else None
        self._packed = b""
        self._piece, self._at, self._total = b"", 0, 0

    def read(self, size):
        """Exactly `size` bytes, or None at the end. Raises Broken when the end comes in between."""
        data = self._piece[self._at:self._at + size]
        self._at += len(data)
        while len(data) < size:
            if not self._next():
                if data:
                    raise Broken("it ends in the middle of a member")
                return None
            more = self._piece[:size - len(data)]
            self._at = len(more)
            data += more
        return data

    def exactly(self, size):
        data = self.read(size) if size else b""
        if data is None:
            raise Broken("it ends in the middle of a member")
        return data

    def skip(self, size, tail=None):
        """Passes `size` bytes and the padding of a member whose last block holds `tail` bytes (default: size % 512)."""
        size += -(size if tail is None else tail) % 512
        while size > 0:
            size -= len(self.exactly(min(size, PIECE)))

    def _next(self):
        self._piece, self._at = self._unpack() if self._gzip else self._file.read(PIECE), 0
        self._total += len(self._piece)
        if self._total > MAX_TOTAL:
            raise TooBig(f"more than {MAX_TOTAL >> 20} MiB unpacked")
        return bool(self._piece)

    def _unpack(self):
        """The next piece of gzip output, over as many gzip members as follow each other (RFC 1952, section 2.2)."""
        while True:
            if self._gzip.eof:
                rest = self._gzip.unused_data or self._file.read(PIECE)
                if not rest.startswith(b"\x1f"):
                    return b""
                self._gzip, self._packed = zlib.decompressobj(31), rest
            packed = self._packed or self._file.read(PIECE)
            if not packed and not self._gzip.eof:
                raise Broken("its gzip stream ends early")
            try:
                piece = self._gzip.decompress(packed, PIECE)
            except zlib.error as err:
                raise Broken(f"its gzip stream is damaged: {err}") from None
            self._packed = self._gzip.unconsumed_tail
            if piece:
                return piece
