"""The seller's logo: whether it is a whole PNG or JPEG, and its size.

Here: the frame of the two kinds of file, not their pixels. Not here: where the logo stands (`book`).
"""

from __future__ import annotations

import struct
import zlib

from gpuecon_xl.errors import BadValue

MIN_BYTES = 44  # no picture is smaller, nor written by XlsxWriter
MAX_BYTES = 2_000_000
MAX_SIDE = 20_000  # pixels
_PNG, _JPEG, _END = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"\xff\xd9"
_SCAN = 0xDA
_NO_SIZE = (0xC4, 0xC8, 0xCC)  # markers among those of a frame that have none


def pixels(picture: bytes) -> tuple[int, int]:
    """Width and height.

    Raises
    ------
    BadValue
        The rest of a sentence: for what is no picture, cut off or too large.
    """
    if not picture.startswith((_PNG, _JPEG)):
        raise BadValue("is no PNG or JPEG; one is due")
    try:
        wide, high = _png(picture) if picture.startswith(_PNG) else _jpeg(picture)
    except (struct.error, IndexError):
        wide = high = 0
    if not wide or not high or len(picture) < MIN_BYTES:
        raise BadValue("is a picture that is cut off or damaged; a whole PNG or JPEG is due")
    if max(wide, high) > MAX_SIDE:
        raise BadValue(f"is a picture of {wide} x {high} pixels; at most {MAX_SIDE} on a side are due")
    return wide, high


def _png(picture: bytes) -> tuple[int, int]:
    """The size in the first chunk, when every chunk up to the last is whole."""
    at, size = len(_PNG), (0, 0)
    while True:
        length, kind = struct.unpack_from(">I4s", picture, at)
        body = picture[at + 8 : at + 8 + length]
        if struct.unpack_from(">I", picture, at + 8 + length)[0] != zlib.crc32(kind + body):
            return 0, 0
        if kind == b"IHDR" and not any(size):
            size = struct.unpack_from(">II", body)
        if kind == b"IEND":
            return size
        at += 12 + length


def _jpeg(picture: bytes) -> tuple[int, int]:
    """The size in the frame's head, when the file has a scan and an end."""
    at, size = 2, (0, 0)
    while _END in picture[at:]:
        fill, marker, length = struct.unpack_from(">BBH", picture, at)
        if fill != 0xFF or length < 2:
            break
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            high, wide = struct.unpack_from(">HH", picture, at + 5)
            size = wide, high
        if marker == _SCAN:
            return size
        at += 2 + length
    return 0, 0
