"""Files come to their place whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuecon_xl.errors import BadFile
from gpuecon_xl.files import check_target, named, replace_file, workbook_named, write_all, written_whole


def test_nothing_is_moved_when_one_of_them_fails(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("kept", encoding="utf-8")

    def fail() -> None:
        with written_whole(old, new) as (first, _):
            first.write_text("half", encoding="utf-8")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert old.read_text(encoding="utf-8") == "kept"
    assert list(tmp_path.iterdir()) == [old]


def test_all_are_moved_when_all_are_whole(tmp_path: Path) -> None:
    made = {tmp_path / "a": b"1", tmp_path / "b": b"2"}
    write_all(made)
    assert {p: p.read_bytes() for p in tmp_path.iterdir()} == made
    replace_file(tmp_path / "a", b"3")
    assert (tmp_path / "a").read_bytes() == b"3"


def test_names_and_places_are_checked(tmp_path: Path) -> None:
    assert workbook_named("x.XLSX", "risk") == Path("x.XLSX")
    assert named(str(tmp_path), "-o", ".eml", "report") == tmp_path  # a folder is told as a folder
    there = tmp_path / "there.xlsx"
    there.touch()
    check_target(there, True)
    for refused, sentence in (
        (lambda: workbook_named("x.csv", "risk"), "a name such as risk.xlsx is due"),
        (lambda: named("x.csv", "--eml", ".eml", "report"), "--eml 'x.csv' does not end in .eml; a name such as report.eml is due"),
        (lambda: check_target(there, False), "exists already"),
        (lambda: check_target(tmp_path, True), "is a folder"),
        (lambda: check_target(tmp_path / "no" / "x.xlsx", True), "does not exist"),
    ):
        with pytest.raises(BadFile, match=sentence):
            refused()
