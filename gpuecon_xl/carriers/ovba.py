"""VBA projects as files: their compression, their container and their table of modules, read and written.

Here: the parts of two published formats that a ``vbaProject.bin`` needs, after [MS-OVBA] (compression 2.4.1, project
information 2.3) and [MS-CFB] (the container). Not here: what the modules say (`vba`).

Modules are written as source only, without the compiled code that Excel keeps beside it; Excel compiles such modules when
it opens the project. xlwings ships its own VBA module in that form. No file written here was opened in a real Excel.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpuecon_xl.errors import BadFile

_CHUNK = 4096
_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_FREE, _END, _FAT_SECTOR = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


# ------------------------------------------------------------------------------------------------ compression


def _offset_bits(position: int) -> int:
    """Bits of a copy token that hold the offset; the rest hold the length."""
    return max(4, (position - 1).bit_length())


def _compressed_chunk(chunk: bytes) -> bytes:
    out = bytearray()
    seen: dict[bytes, list[int]] = {}
    at = 0
    while at < len(chunk):
        flags, tokens = 0, bytearray()
        for bit in range(8):
            if at >= len(chunk):
                break
            bits = _offset_bits(at)
            longest = min((0xFFFF >> bits) + 3, len(chunk) - at)
            length = start = 0
            for candidate in reversed(seen.get(chunk[at : at + 3], ())):
                n = 3
                while n < longest and chunk[candidate + n] == chunk[at + n]:
                    n += 1
                if n > length:
                    length, start = n, candidate
                if length == longest:
                    break
            step = 1
            if length >= 3:
                flags |= 1 << bit
                tokens += struct.pack("<H", (at - start - 1) << (16 - bits) | (length - 3))
                step = length
            else:
                tokens.append(chunk[at])
            for k in range(at, min(at + step, len(chunk) - 2)):
                seen.setdefault(chunk[k : k + 3], []).append(k)
            at += step
        out.append(flags)
        out += tokens
    if len(out) >= _CHUNK:  # a chunk that does not shrink is stored as it is, filled up
        return struct.pack("<H", 0x3000 | (_CHUNK - 1)) + chunk.ljust(_CHUNK, b"\0")
    return struct.pack("<H", 0xB000 | (len(out) - 1)) + bytes(out)


def compress(data: bytes) -> bytes:
    """Data as a compressed container."""
    return b"\x01" + b"".join(_compressed_chunk(data[i : i + _CHUNK]) for i in range(0, len(data), _CHUNK))


def decompress(data: bytes) -> bytes:
    """Data of a compressed container."""
    if data[:1] != b"\x01":
        raise BadFile("the VBA project is damaged: a compressed part does not begin as it must")
    out = bytearray()
    at = 1
    while at + 2 <= len(data):
        (head,) = struct.unpack_from("<H", data, at)
        end = min(at + (head & 0x0FFF) + 3, len(data))
        at += 2
        if not head & 0x8000:
            out += data[at:end]
            at = end
            continue
        start = len(out)
        while at < end:
            flags = data[at]
            at += 1
            for bit in range(8):
                if at >= end:
                    break
                if not flags >> bit & 1:
                    out.append(data[at])
                    at += 1
                    continue
                (token,) = struct.unpack_from("<H", data, at)
                at += 2
                bits = _offset_bits(len(out) - start)
                back = (token >> (16 - bits)) + 1
                if back > len(out) - start:
                    raise BadFile("the VBA project is damaged: a copy points before its chunk")
                for _ in range((token & (0xFFFF >> bits)) + 3):
                    out.append(out[-back])
    return bytes(out)


# ------------------------------------------------------------------------------------------------ container


def read_container(data: bytes) -> dict[str, bytes]:
    """Streams of a compound file by path, such as ``VBA/dir``."""
    if data[:8] != _SIGNATURE or len(data) < _SECTOR:
        raise BadFile("the VBA project is no compound file")
    size = 1 << int(struct.unpack_from("<H", data, 30)[0])
    directory, cutoff, mini_fat = (int(struct.unpack_from("<I", data, o)[0]) for o in (48, 56, 60))

    def sector(i: int) -> bytes:
        return data[(i + 1) * size : (i + 2) * size]

    fat = [n for s in struct.unpack_from("<109I", data, 76) if s < _FAT_SECTOR for n in struct.unpack(f"<{size // 4}I", sector(s))]

    def chain(start: int, table: list[int]) -> Iterator[int]:
        for _ in range(len(table) + 1):
            if start >= len(table):
                return
            yield start
            start = table[start]
        raise BadFile("the VBA project is damaged: a chain of sectors has no end")

    def joined(start: int) -> bytes:
        return b"".join(map(sector, chain(start, fat)))

    raw = joined(directory)
    entries = [raw[i : i + 128] for i in range(0, len(raw), 128)]
    minis = [n for (n,) in struct.iter_unpack("<I", joined(mini_fat))]
    small = joined(struct.unpack_from("<I", entries[0], 116)[0])
    found: dict[str, bytes] = {}

    def walk(i: int, path: str) -> None:
        if i >= len(entries):
            return
        entry = entries[i]
        (length,) = struct.unpack_from("<H", entry, 64)
        left, right, child = struct.unpack_from("<III", entry, 68)
        start, count = struct.unpack_from("<II", entry, 116)
        walk(left, path)
        name = path + entry[: length - 2].decode("utf-16le")
        if entry[66] == 1:
            walk(child, name + "/")
        elif count >= cutoff:
            found[name] = joined(start)[:count]
        else:
            found[name] = b"".join(small[m * _MINI : (m + 1) * _MINI] for m in chain(start, minis))[:count]
        walk(right, path)

    walk(struct.unpack_from("<I", entries[0], 76)[0], "")
    return found


@dataclass
class _Entry:
    """A line of a container's directory."""

    name: str
    kind: int  # 1 storage, 2 stream, 5 root
    data: bytes = b""
    children: list[int] = field(default_factory=list)
    left: int = _FREE
    right: int = _FREE
    child: int = _FREE
    start: int = 0
    red: bool = False

    def packed(self) -> bytes:
        """The 128 bytes of the entry."""
        name = self.name.encode("utf-16le")
        return (name.ljust(64, b"\0") + struct.pack("<HBBIII", len(name) + 2, self.kind, not self.red, self.left, self.right, self.child)
                + bytes(36) + struct.pack("<IQ", self.start, len(self.data)))  # fmt: skip


def write_container(streams: dict[str, bytes]) -> bytes:
    """A compound file with these streams; the same bytes for the same streams."""
    entries = [_Entry("Root Entry", 5)]
    where = {"": 0}
    for path in sorted(streams):
        *folders, name = path.split("/")
        parent = ""
        for folder in folders:
            here = f"{parent}/{folder}" if parent else folder
            if here not in where:
                where[here] = len(entries)
                entries[where[parent]].children.append(len(entries))
                entries.append(_Entry(folder, 1))
            parent = here
        entries[where[parent]].children.append(len(entries))
        entries.append(_Entry(name, 2, streams[path]))
    for entry in entries:
        order = sorted(entry.children, key=lambda i: (len(entries[i].name), entries[i].name.upper()))
        entry.child = _tree(entries, order, len(order).bit_length() - 1 if len(order) & (len(order) + 1) else -1)
    fat: list[int] = []
    body: list[bytes] = []

    def placed(data: bytes) -> int:
        first, count = len(fat), -(-len(data) // _SECTOR)
        if not count:
            return _END
        fat.extend([*range(first + 1, first + count), _END])
        body.append(data.ljust(count * _SECTOR, b"\0"))
        return first

    mini, mini_fat = bytearray(), list[int]()
    for entry in entries:
        if entry.kind != 2:
            continue
        if len(entry.data) >= _CUTOFF:
            entry.start = placed(entry.data)
        elif entry.data:
            entry.start, count = len(mini_fat), -(-len(entry.data) // _MINI)
            mini_fat.extend([*range(entry.start + 1, entry.start + count), _END])
            mini += entry.data.ljust(count * _MINI, b"\0")
        else:
            entry.start = _END
    entries[0].data = bytes(mini)
    entries[0].start = placed(entries[0].data)
    mini_sectors = -(-len(mini_fat) * 4 // _SECTOR)
    mini_start = placed(struct.pack(f"<{len(mini_fat)}I", *mini_fat).ljust(mini_sectors * _SECTOR, b"\xff"))
    unused = bytes(68) + struct.pack("<III", _FREE, _FREE, _FREE) + bytes(48)
    directory = b"".join(e.packed() for e in entries)
    directory_start = placed(directory + unused * (-len(entries) % 4))
    first, count = len(fat), 1
    while (len(fat) + count) * 4 > count * _SECTOR:
        count += 1
    if count > 109:
        raise BadFile("the VBA project is too large; less than 7 MB is due")
    fat.extend([_FAT_SECTOR] * count)
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(count * _SECTOR, b"\xff")
    head = _SIGNATURE + bytes(16) + struct.pack("<5H", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<9I", 0, count, directory_start, 0, _CUTOFF, mini_start if mini_fat else _END, mini_sectors, _END, 0)
    head += struct.pack("<109I", *(first + i if i < count else _FREE for i in range(109)))
    return head + b"".join(body) + table


def _tree(entries: list[_Entry], order: list[int], red_at: int, depth: int = 0) -> int:
    """Siblings as a balanced tree; its deepest, incomplete level is red, as a red-black tree wants it."""
    if not order:
        return _FREE
    middle = len(order) // 2
    entry = entries[order[middle]]
    entry.red = depth == red_at
    entry.left = _tree(entries, order[:middle], red_at, depth + 1)
    entry.right = _tree(entries, order[middle + 1 :], red_at, depth + 1)
    return order[middle]


# ------------------------------------------------------------------------------------------------ project

_VERSION, _CODE_PAGE, _COUNT, _COOKIE, _TERMINATOR = 0x09, 0x03, 0x0F, 0x13, 0x10
_NAME, _STREAM, _OFFSET, _PROCEDURAL, _OF_DOCUMENT = 0x19, 0x1A, 0x31, 0x21, 0x22
_PROJECT_NAME = 0x04


@dataclass
class Module:
    """A module: its source with attributes, and whether it is plain code, not a document or a class."""

    name: str
    source: str
    plain: bool
    records: list[tuple[int, bytes]] = field(default_factory=list)


def _records(raw: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 6 <= len(raw):
        kind, size = struct.unpack_from("<HI", raw, at)
        at += 6
        size = 6 if kind == _VERSION else size  # its size field says 4, six bytes follow
        yield kind, raw[at : at + size]
        at += size


def _packed(kind: int, value: bytes) -> bytes:
    return struct.pack("<HI", kind, 4 if kind == _VERSION else len(value)) + value


class Project:
    """A VBA project, from the bytes of a ``vbaProject.bin``.

    Parameters
    ----------
    data : a compound file, as in ``xl/vbaProject.bin``.
    """

    def __init__(self, data: bytes) -> None:
        self._streams = read_container(data)
        self._head: list[tuple[int, bytes]] = []
        self.modules: dict[str, Module] = {}
        try:
            raw, self._text = decompress(self._streams.pop("VBA/dir")), self._streams.pop("PROJECT")
        except KeyError as missing:
            raise BadFile(f"the VBA project has no {missing.args[0]}") from None
        self._code_page = "cp1252"
        module: Module | None = None
        stream, offset = "", 0
        for kind, value in _records(raw):
            if kind == _CODE_PAGE:
                self._code_page = f"cp{struct.unpack('<H', value)[0]}"
            if kind == _NAME:
                module = Module(value.decode(self._code_page), "", False)
            if kind == _TERMINATOR:
                break
            if module is None:
                self._head.append((kind, value))
                continue
            module.records.append((kind, value))
            if kind == _STREAM:
                stream = value.decode(self._code_page)
            elif kind == _OFFSET:
                (offset,) = struct.unpack("<I", value)
            elif kind in (_PROCEDURAL, _OF_DOCUMENT):
                module.plain = kind == _PROCEDURAL
            elif kind == 0x2B:  # the end of a module
                text = decompress(self._streams.pop(f"VBA/{stream}")[offset:]).decode(self._code_page)
                module.source = text.replace("\r\n", "\n")
                self.modules[module.name] = module
        for name in [n for n in self._streams if n.startswith("VBA/") or n == "PROJECTwm"]:
            del self._streams[name]  # compiled code of one version of Excel, and what is made anew

    def put(self, name: str, source: str) -> None:
        """Add a plain module, or replace one; `source` without the attribute of its name."""
        ansi, wide = name.encode(self._code_page), name.encode("utf-16le")
        records = [(_NAME, ansi), (0x47, wide), (_STREAM, ansi), (0x32, wide), (0x1C, b""), (0x48, b""), (_OFFSET, bytes(4)), (0x1E, bytes(4)),
                   (0x2C, b"\xff\xff"), (_PROCEDURAL, b""), (0x2B, b"")]  # fmt: skip
        self.modules[name] = Module(name, f'Attribute VB_Name = "{name}"\n{source}', True, records)

    def rename(self, name: str) -> None:
        """Give the project another name."""
        self._head = [(k, name.encode(self._code_page) if k == _PROJECT_NAME else v) for k, v in self._head]
        self._text = b"\r\n".join(b'Name="%s"' % name.encode(self._code_page) if line.startswith(b"Name=") else line
                                  for line in self._text.split(b"\r\n"))  # fmt: skip

    def to_bytes(self) -> bytes:
        """The project as a ``vbaProject.bin``."""
        streams = dict(self._streams)
        out = b""
        for kind, value in self._head:
            if kind == _COUNT:
                value = struct.pack("<H", len(self.modules))
            elif kind == _COOKIE:
                value = b"\xff\xff"
            out += _packed(kind, value)
        for module in self.modules.values():
            for kind, value in module.records:
                out += _packed(kind, bytes(4) if kind == _OFFSET else value)
            try:
                source = module.source.replace("\r\n", "\n").replace("\n", "\r\n").encode(self._code_page)
            except UnicodeEncodeError as error:
                raise BadFile(f"module {module.name}: {error.object[error.start]!r} is not in the project's code page") from None
            streams[f"VBA/{module.name}"] = compress(source)
        streams["VBA/dir"] = compress(out + _packed(_TERMINATOR, b""))
        streams["VBA/_VBA_PROJECT"] = bytes.fromhex("cc61ffff000000")
        streams["PROJECT"] = self._listed().encode(self._code_page)
        streams["PROJECTwm"] = b"".join(n.encode(self._code_page) + b"\0" + n.encode("utf-16le") + b"\0\0" for n in self.modules) + b"\0\0"
        return write_container(streams)

    def _listed(self) -> str:
        """The project's own list of modules, brought up to date."""
        lines = self._text.decode(self._code_page).split("\r\n")
        kept, known = [], set()
        for line in lines:
            key, _, value = line.partition("=")
            if key in ("Module", "Class", "Document", "BaseClass"):
                known.add(name := value.partition("/")[0])
                if name not in self.modules:
                    continue
            kept.append(line)
        at = kept.index("[Workspace]") if "[Workspace]" in kept else len(kept)
        kept = kept[:at]
        first = next(i for i, line in enumerate(kept) if line.startswith("Name="))
        kept[first:first] = [f"Module={n}" for n in self.modules if n not in known]
        return "\r\n".join([*kept, "[Workspace]", *(f"{n}=0, 0, 0, 0, C" for n in self.modules), ""])
