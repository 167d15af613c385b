"""Offer numbers from a counter file: one number for each request, no gaps, none twice, also when two runs race or one is killed.

Here: the lock, the counter and the list of who has which number. Not here: what a request is (`many`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpuecon_xl.errors import BadFile
from gpuecon_xl.files import replace_file

PATIENCE_S = 60.0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time between these lines, for one path; the system frees the lock when a process dies."""
    with Path(f"{path}.lock").open("a+b") as file:
        end = time.monotonic() + PATIENCE_S
        while not _try(file.fileno()):
            if time.monotonic() > end:
                raise BadFile(f"{path} is locked by another run for more than {PATIENCE_S:g} seconds; wait for it to end")
            time.sleep(0.05)
        try:
            yield
        finally:
            _free(file.fileno())


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _try(handle: int) -> bool:
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _free(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _free(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def numbers(counter: Path, keys: Sequence[str], prefix: str, digits: int, start: int) -> list[str]:
    """The number of each key: the one that it has already, else the next.

    The counter file holds the next number and who has which, so that a run that was killed gets the same numbers again.
    """
    if not counter.parent.is_dir():
        raise BadFile(f"{counter}: the folder {counter.parent} does not exist; make it first")
    with locked(counter):
        following, known = _read(counter, start)
        fresh = [k for k in dict.fromkeys(keys) if k not in known]
        taken = set(known.values())
        for key in fresh:
            while f"{prefix}{following:0{digits}d}" in taken:
                following += 1
            known[key] = f"{prefix}{following:0{digits}d}"
            following += 1
        if fresh:
            replace_file(counter, (json.dumps({"next": following, "numbers": known}, indent=0, ensure_ascii=False) + "\n").encode())
        return [known[k] for k in keys]


def _read(counter: Path, start: int) -> tuple[int, dict[str, str]]:
    if not counter.exists():
        return start, {}
    try:
        held = json.loads(counter.read_text(encoding="utf-8"))
        following, known = held["next"], held["numbers"]
        if not isinstance(following, int) or following < 1 or not all(isinstance(v, str) for v in known.values()):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadFile(f"{counter} is no counter file; one made by this product, or none, is due") from None
    return following, dict(known)
