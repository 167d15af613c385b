"""How files come to their place: named rightly, nothing lost, whole or not at all.

Here: checks of a target and the writing beside it. Not here: what stands in the files.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gpuecon_xl.errors import BadFile


def check_target(path: Path, force: bool) -> None:
    """A place that can be written: its folder exists, and nothing is lost."""
    if not path.parent.is_dir():
        raise BadFile(f"{path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise BadFile(f"{path} is a folder; the name of a file is due")
    if path.exists() and not force:
        raise BadFile(f"{path} exists already; choose another name or give --force")


def workbook_named(text: str, example: str) -> Path:
    """The workbook that an option names; `example` is a right name."""
    path = Path(text)
    if path.suffix.lower() != ".xlsx":
        raise BadFile(f"{text[:200]!r} does not end in .xlsx; a name such as {example}.xlsx is due")
    return path


def named(text: str, option: str, suffix: str, example: str) -> Path:
    """The file that an option names, one of several kinds; a folder is refused later, as a folder."""
    path = Path(text)
    if path.suffix.lower() != suffix and not path.is_dir():
        raise BadFile(f"{option} {text!r} does not end in {suffix}; a name such as {example}{suffix} is due")
    return path


@contextmanager
def written_whole(*targets: Path) -> Iterator[list[Path]]:
    """Places beside the targets; what was written there is moved when all of it is whole, else nothing is."""
    with ExitStack() as folders:
        made = (folders.enter_context(tempfile.TemporaryDirectory(dir=t.parent, prefix=".gpuecon-")) for t in targets)
        parts = [Path(folder) / target.name for folder, target in zip(made, targets, strict=True)]
        yield parts
        for part, target in zip(parts, targets, strict=True):
            os.replace(part, target)


def write_all(contents: Mapping[Path, bytes]) -> None:
    """All files, or none."""
    with written_whole(*contents) as parts:
        for part, content in zip(parts, contents.values(), strict=True):
            part.write_bytes(content)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there when it is whole."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".gpuecon-", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
