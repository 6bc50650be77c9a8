"""A page of SVG to draw on: the same calls give the same bytes. 4 units are a millimetre on paper."""

from xml.sax.saxutils import escape

INK, SOFT, GRID = "#1b2a33", "#5b6b73", "#e1e7e9"
ACCENT, MUTED, WARM = "#0f6e6e", "#a9bcc0", "#c8601c"
FONT = "Liberation Sans, Arial, DejaVu Sans, sans-serif"
SMALL, NORMAL, TITLE = 11, 12, 15    # font sizes: 8, 8.5 and 10.5 points on paper
GLYPH = 0.55                         # a character's mean width in parts of the font size; on the wide side


class Page:
    def __init__(self, width, height, title, unit):
        """A chart's page, with its title and, below, what is measured in which unit."""
        self.width, self.height, self._parts = width, height, []
        self.text(0, 14, title, TITLE, weight="bold")
        self.text(0, 31, unit, SMALL, SOFT)
        self._title = title

    def text(self, x, y, words, size=NORMAL, fill=INK, anchor="start", weight="normal"):
        self._add(f'<text x="{n(x)}" y="{n(y)}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
                  f'text-anchor="{anchor}">{clean(words)}</text>')

    def rect(self, x, y, width, height, fill):
        self._add(f'<rect x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" fill="{fill}"/>')

    def line(self, x1, y1, x2, y2, stroke=GRID, width=1.0):
        self._add(f'<line x1="{n(x1)}" y1="{n(y1)}" x2="{n(x2)}" y2="{n(y2)}" stroke="{stroke}" stroke-width="{n(width)}"/>')

    def curve(self, points, stroke, width=2.2):
        path = " L ".join(f"{n(x)} {n(y)}" for x, y in points)
        self._add(f'<path d="M {path}" fill="none" stroke="{stroke}" stroke-width="{n(width)}" stroke-linejoin="round"/>')

    def area(self, points, base, fill):
        path = " L ".join(f"{n(x)} {n(y)}" for x, y in [(points[0][0], base), *points, (points[-1][0], base)])
        self._add(f'<path d="M {path} Z" fill="{fill}"/>')

    def dot(self, x, y, fill, stroke):
        self._add(f'<circle cx="{n(x)}" cy="{n(y)}" r="4.5" fill="{fill}" stroke="{stroke}" stroke-width="2"/>')

    def key(self, x, y, fill, words):
        """An entry of a legend. Returns where the next one begins."""
        self.rect(x, y - 9, 10, 10, fill)
        self.text(x + 15, y, words, SMALL, SOFT)
        return x + 15 + breadth(words, SMALL) + 18

    def document(self):
        return (f'<?xml version="1.0" encoding="UTF-8"?>\n'
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{n(self.width / 4)}mm" height="{n(self.height / 4)}mm" '
                f'viewBox="0 0 {self.width} {self.height}" font-family="{FONT}" role="img">\n'
                f"<title>{clean(self._title)}</title>\n" + "\n".join(self._parts) + "\n</svg>\n")

    def _add(self, part):
        self._parts.append(part)


def n(number):
    """A number with at most two decimals, so that no platform's last digit shows."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def clean(words):
    """Text for XML. What XML 1.0 cannot hold becomes a question mark."""
    return escape("".join(c if c >= " " and not 0xD800 <= ord(c) <= 0xDFFF and c not in "\ufffe\uffff" else "?" for c in words))


def breadth(words, size):
    return len(words) * size * GLYPH


def fit(words, width, size):
    """The words, cut so that they are about as wide as `width` at most."""
    room = int(width / (size * GLYPH))
    return words if len(words) <= room else words[:max(1, room - 1)].rstrip() + "…"
