"""Many quotes: bad rows, second runs, runs that are killed, runs that race, numbers."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from quote_parts import SAMPLES

from gpuecon_xl import cli
from gpuecon_xl.errors import BadFile
from gpuecon_xl.quote import many, numbering

HEAD = (
    "language",
    "currency",
    "date",
    "discount",
    "customer.name",
    "customer.city",
    "customer.country",
    "customer.vat_id",
    "line1.gpu",
    "line1.count",
    "line1.list_price",
    "line2.item",
    "line2.quantity",
    "line2.list_price",
    "economics.model",
    "economics.precision",
    "economics.electricity_kwh",
    "economics.cloud_hour",
)


def row(i: int, **more: Any) -> dict[str, Any]:
    lang = ("de", "da", "en")[i % 3]
    base = {
        "language": lang,
        "currency": ("EUR", "USD")[i % 2],
        "date": "2026-12-01",
        "discount": ("", "3 %")[i % 2],
        "customer.name": f"Kunde {i} Ærø Größe",
        "customer.city": "Ort",
        "customer.country": "DE",
        "line1.gpu": "L4",
        "line1.count": str(1 + i % 4),
        "line1.list_price": f"{3000 + i},50",
        "line2.item": "=Montage",
        "line2.quantity": "1,5",
        "line2.list_price": "99.99",
        "economics.model": "Llama 3.1 8B",
        "economics.precision": "fp8",
        "economics.electricity_kwh": "0,25",
        "economics.cloud_hour": "0.4",
    }
    return base | more


def table(folder: Path, rows: Sequence[dict[str, Any]], name: str = "requests.csv", delimiter: str = ";") -> Path:
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEAD, delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def run(path: Path, folder: Path, *more: str) -> int:
    return cli.main(["quotes", str(path), "-o", str(folder), "--seller", str(SAMPLES / "seller.toml"), *more])


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / many.LOG).read_text(encoding="utf-8").splitlines()]


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir() if not p.name.endswith(".lock")}


def check_whole(folder: Path, count: int) -> None:
    """Every row has a file that opens, numbers run without a gap, nothing else lies there."""
    entries = log(folder)
    assert [e["number"] for e in sorted(entries, key=lambda e: e["number"])] == [f"A-2026-{n:04d}" for n in range(1, count + 1)]
    assert {p.name for p in folder.glob("*.xlsx")} == {e["file"] for e in entries} | {many.SUMMARY}
    for e in entries:
        with zipfile.ZipFile(folder / e["file"]) as package:
            assert package.testzip() is None
        letter = openpyxl.load_workbook(folder / e["file"], read_only=True).worksheets[0]
        assert e["number"] in {str(c) for r in letter.iter_rows(max_row=16, values_only=True) for c in r}
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".gpuecon-") or many.NOTE.fullmatch(p.name)]


def test_bad_rows_are_named_and_stop_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(0), row(1, **{"line1.list_price": "1e308"}), row(2), row(3, **{"customer.country": "AT", "customer.vat_id": "AT1"}), row(4)]
    path, out = table(tmp_path, rows), tmp_path / "out"
    assert run(path, out) == 2
    assert "no such folder" in capsys.readouterr().err
    out.mkdir()
    assert run(path, out, "--json", "--workers", "1") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["failed"]) == (3, 2)
    assert [e["row"] for e in told["errors"]] == [3, 5]
    assert "requests.csv line 3, line[1].list_price" in told["errors"][0]["error"]
    assert "customer.vat_id" in told["errors"][1]["error"]
    assert [e.get("number") for e in log(out)] == ["A-2026-0001", None, "A-2026-0002", None, "A-2026-0003"]
    summary = openpyxl.load_workbook(out / many.SUMMARY).worksheets[0]
    assert summary.max_row == 6
    before = state(out)
    assert run(path, out, "--workers", "1") == 1
    assert state(out) == before, "a second run wrote something"
    capsys.readouterr()
    rows[1] = row(1)
    assert run(table(tmp_path, rows), out, "--json", "--workers", "1") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["unchanged"], told["failed"]) == (1, 3, 1)
    assert log(out)[1]["number"] == "A-2026-0004"
    (out / "A-2026-0001.xlsx").write_bytes(b"edited")
    assert run(path, out, "--json", "--workers", "1") == 1
    assert "was changed since" in json.loads(capsys.readouterr().out)["errors"][0]["error"]
    assert (out / "A-2026-0001.xlsx").read_bytes() == b"edited"


def test_same_quotes_whatever_the_workers_and_the_table(tmp_path: Path) -> None:
    rows = [row(i) for i in range(20)]
    path = table(tmp_path, rows)
    book = openpyxl.Workbook()
    book.active.append(HEAD)
    for r in rows:
        book.active.append([r.get(h, "") for h in HEAD])
    for cell in (c for cells in book.active.iter_rows(min_row=2) for c in cells):
        cell.data_type = "s"  # openpyxl takes "=Montage" for a formula
    book.save(tmp_path / "requests.xlsx")
    outs = []
    for name, source, workers in (
        ("a", path, "1"),
        ("b", path, "2"),
        ("c", tmp_path / "requests.xlsx", "1"),
        ("d", table(tmp_path, rows, "c.csv", ","), "1"),
    ):
        out = tmp_path / name
        out.mkdir()
        assert run(source, out, "--workers", workers) == 0
        outs.append({p.name: p.read_bytes() for p in out.glob("A-*.xlsx")})
    assert len(outs[0]) == 20
    assert outs[0] == outs[1] == outs[2] == outs[3]


def _start(path: Path, out: Path) -> subprocess.Popen[bytes]:
    code = "import sys; from gpuecon_xl.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["quotes", str(path), "-o", str(out), "--seller", str(SAMPLES / "seller.toml"), "--workers", "2"]
    return subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


@pytest.mark.skipif(sys.platform == "win32", reason="killpg is of POSIX")
@pytest.mark.parametrize("after", [1, 20])
def test_killed_in_the_middle_and_started_again(after: int, tmp_path: Path) -> None:
    path, out = table(tmp_path, [row(i) for i in range(60)]), tmp_path / "out"
    out.mkdir()
    child = _start(path, out)
    end = time.monotonic() + 60
    while len(list(out.glob("A-*.xlsx"))) < after and child.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    done = {p.name: p.read_bytes() for p in out.glob("A-*.xlsx")}
    assert 0 < len(done) < 60
    for content in done.values():
        assert content.startswith(b"PK"), "half a file"
    for part in out.glob(".gpuecon-*"):  # what a kill leaves is no quote; it is cleared by the next run
        assert part.suffix == ".part"
    assert run(path, out, "--workers", "2") == 0
    check_whole(out, 60)
    assert all((out / n).read_bytes() == c for n, c in done.items())


def test_two_runs_race_for_one_counter(tmp_path: Path) -> None:
    counter = tmp_path / "numbers.json"
    code = (
        "import sys; from pathlib import Path; from gpuecon_xl.quote.numbering import numbers\n"
        "for i in range(25): print(*numbers(Path(sys.argv[1]), [f'{sys.argv[2]}-{i}', f'both-{i}'], 'N-', 3, 1))"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(counter), who], stdout=subprocess.PIPE, text=True) for who in "xyz"]
    texts = [p.communicate(timeout=120)[0] for p in runs]
    pairs = [[line.split() for line in text.splitlines()] for text in texts]
    own = [p[0] for lines in pairs for p in lines]
    both = [{lines[i][1] for lines in pairs} for i in range(25)]
    assert all(len(b) == 1 for b in both)
    everything = sorted({*own, *(next(iter(b)) for b in both)})
    assert len(own) == len(set(own)) == 75
    assert everything == [f"N-{n:03d}" for n in range(1, 101)]


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    path, out = table(tmp_path, [row(i) for i in range(24)]), tmp_path / "out"
    out.mkdir()
    runs = [_start(path, out) for _ in range(2)]
    assert [p.wait(timeout=180) for p in runs] == [0, 0]
    check_whole(out, 24)


def test_counter_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("[1]")
    with pytest.raises(BadFile, match="no counter file"):
        numbering.numbers(tmp_path / "c.json", ["a"], "", 1, 1)
    assert numbering.numbers(tmp_path / "d.json", ["a", "b", "a"], "Q", 2, 7) == ["Q07", "Q08", "Q07"]


def test_own_numbers_may_not_meet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.csv"
    path.write_text(
        "number,customer.name,customer.country,line1.item,line1.list_price\nA/1,a,DE,x,1\nA/1,b,DE,x,1\n../../x,c,DE,x,1\n", encoding="utf-8"
    )
    out = tmp_path / "out"
    out.mkdir()
    assert run(path, out, "--json", "--workers", "1") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["written"] == 2
    assert "line 3" in told["errors"][0]["error"]
    assert all(p.parent == out for p in out.rglob("*"))
    assert not (tmp_path.parent / "x.xlsx").exists()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "no heads"),
        ("customer.name,customer.name\na,b\n", "twice"),
        ("customer.name,customer.country\n", "no rows"),
        ("\x00\x01", "is no field"),
        ("customer.name,shop,customer\na,b,c\n", "line 1 has the head 'shop', which is no field"),
        ("customer.name,line101.gpu\na,L4\n", "line 1 has the head 'line101.gpu'"),
        ("customer.name\tcustomer.country\na\tDE\n", "line 1 has the head"),
        (",".join(f"c{i}" for i in range(2001)) + "\n", "at most 2000 are due"),
        ("customer.name\n" + "a" * 200_000 + "\n", "is no CSV"),
        ("customer.name\n" + "a\n" * 100_001, "more than 100000 lines"),
    ],
    ids=lambda value: str(len(value)),
)
def test_tables_that_are_none(text: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "r.csv", tmp_path / "out"
    path.write_text(text, encoding="utf-8")
    out.mkdir()
    assert run(path, out, "--workers", "1") == 2
    told = capsys.readouterr().err
    assert wanted in told
    assert "Traceback" not in told
    assert not list(out.iterdir())


def test_a_stray_cell_far_away_costs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the table it is refused, right of it its row is; neither is read as millions of blank cells."""
    start = time.process_time()
    for at, code, wanted in (("A1048576", 2, "more than 100000 lines"), ("XFD2", 1, "line 2 has a cell without a head")):
        book = openpyxl.Workbook()
        for line in (("customer.name", "customer.country", "line1.item", "line1.list_price"), ("Å", "DE", "=x", 1)):
            book.active.append(line)
        book.active["C2"].data_type = "s"
        book.active[at] = "z"
        book.save(tmp_path / "far.xlsx")
        out = tmp_path / at
        out.mkdir()
        assert run(tmp_path / "far.xlsx", out, "--workers", "1") == code
        told = capsys.readouterr()
        assert wanted in told.out + told.err
        assert not list(out.glob("A-*.xlsx"))
    assert time.process_time() - start < 20
