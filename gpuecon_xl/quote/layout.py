"""How texts take room on a sheet: widths of Arial, lines of a paragraph.

Here: measuring only. Not here: what is written (`book`).
"""

from __future__ import annotations

import unicodedata

# Advance widths of Arial over that of its digits; other letters count as a digit.
_WIDTHS = {
    c: w
    for chars, w in (
        ("ijl'|", 0.42), (" tfI.,:;!/\\[]·", 0.5), ("r-()`\u00a0", 0.6), ("*\"^{}", 0.65), ("sckvxyzJ", 0.9), ("ABEKPSVXY&ÄÆEÅ", 1.2),
        ("CDHNRUwÜ", 1.3), ("GOQÖØ", 1.4), ("mM", 1.5), ("W", 1.7), ("@%", 1.8), ("æœ", 1.6), ("—…", 1.8),
    )
    for c in chars
}  # fmt: skip
_CAPITAL = 1.25
ROOM = 0.98  # printers and programs differ a little


def width(text: str, bold: bool = False) -> float:
    """Width of a text in the unit of column widths: digits of the same size."""
    total = 0.0
    for c in text:
        known = _WIDTHS.get(c)
        if known is not None:
            total += known
        elif unicodedata.east_asian_width(c) in "WF":
            total += 1.9
        else:
            total += _CAPITAL if c.isupper() else 1.0
    return total * (1.07 if bold else 1.0)


def lines(text: str, room: float, bold: bool = False) -> int:
    """Lines that a text takes in a width; words longer than a line are broken."""
    count = 0
    room *= ROOM
    for paragraph in text.split("\n"):
        count += 1
        used = 0.0
        for word in paragraph.split(" "):
            w = width(word, bold)
            if used and used + 0.5 + w > room:
                count, used = count + 1, 0.0
            while w > room:
                count, w = count + 1, w - room
            used += w + (0.5 if used else 0.0)
    return count
