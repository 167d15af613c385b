"""The command line as a person and a script meet it: real processes, their exit codes and what they leave behind."""

from __future__ import annotations

import ast
import json
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import gpuecon_xl as gx
from gpuecon_xl import cli
from gpuecon_xl.functions_table import FUNCTIONS, Function

GPUECON = [sys.executable, "-m", "gpuecon_xl.cli"]


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GPUECON, *words], capture_output=True, text=True, encoding="utf-8", timeout=120, cwd=cwd)


def answer(*words: str) -> Any:
    r = run(*words, "--json")
    assert r.returncode == 0, r.stderr
    return json.loads(r.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def patched(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line with `_dispatch` replaced."""
    body = f"import os, signal, sys, time\nfrom gpuecon_xl import cli\n{code}\ncli._dispatch = dispatch\nsys.exit(cli.main(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", body, *words], capture_output=True, text=True, timeout=60)


# ------------------------------------------------------------------------------------------------ bad input


@pytest.fixture(scope="session")
def bad_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    d = tmp_path_factory.mktemp("bad")
    (d / "not.xlsx").write_bytes(b"hello")
    (d / "empty.xlsx").write_bytes(b"")
    (d / "locked.xlsx").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(4096))
    openpyxl.Workbook().save(d / "foreign.xlsx")
    whole = (d / "foreign.xlsx").read_bytes()
    (d / "cut.xlsx").write_bytes(whole[: len(whole) // 2])
    with zipfile.ZipFile(d / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as z:
        for name in ("[Content_Types].xml", "xl/workbook.xml"):
            z.writestr(name, b" " * 100_000_000)
    with zipfile.ZipFile(d / "other.xlsx", "w") as z:
        z.writestr("word/document.xml", "<w/>")
    (d / "folder.xlsx").mkdir()
    (d / "there.xlsx").write_bytes(b"mine")
    (d / "csv").mkdir()
    (d / "csv" / "prices.csv").write_text("gpu,low\nRTX 5090,1\n", encoding="utf-8")
    (d / "file").write_bytes(b"")
    return d


LLAMA, CARD = "Llama 3.1 8B", "RTX 5090"

# A call, and what its sentence must name. {d} is the folder of bad files.
HOSTILE: list[tuple[list[str], str]] = [
    ([], "command"),
    (["tokqs", LLAMA, CARD], "tokqs"),
    (["--lang"], "--lang"),
    (["tokps"], "model"),
    (["tokps", LLAMA], "gpu"),
    (["tokps", LLAMA, CARD, "L4"], "L4"),
    (["tokps", LLAMA, CARD, "--cards", "2"], "--cards"),
    (["tokps", LLAMA, CARD, "--batch"], "--batch"),
    (["tokps", "Llama 9 900B", CARD], "Llama 9 900B"),
    (["tokps", "", CARD], "model"),
    (["tokps", LLAMA, "RTX 9999"], "RTX 9999"),
    (["tokps", LLAMA, "RTX 9999\nTraceback"], "RTX 9999"),
    (["tokps", LLAMA, CARD, "--precision", "fp3"], "fp3"),
    (["tokps", LLAMA, CARD, "--batch", "0"], "batch"),
    (["tokps", LLAMA, CARD, "--batch", "-4"], "batch"),
    (["tokps", LLAMA, CARD, "--batch", "nan"], "batch"),
    (["tokps", LLAMA, CARD, "--batch", "1e400"], "batch"),
    (["tokps", LLAMA, CARD, "--batch", "1,2,3"], "batch"),
    (["tokps", LLAMA, CARD, "--context", "1e12"], "context"),
    (["tokps", LLAMA, CARD, "--context", "131073"], "context"),
    (["tokps", LLAMA, CARD, "--gpus", "2.5"], "gpus"),
    (["tokps", LLAMA, CARD, "--gpus", "4", "--options", "tp=3"], "tp 3"),
    (["tokps", LLAMA, CARD, "--options", "tp=2"], "tp 2"),
    (["tokps", LLAMA, CARD, "--options", "context=100"], "context"),
    (["tokps", LLAMA, CARD, "--options", "engine=nosuch"], "engine"),
    (["tokps", LLAMA, CARD, "--options", "mode=fast"], "mode"),
    (["tokps", "Llama 3.3 70B", "RTX 3060 12GB", "--precision", "fp16"], "Llama 3.3 70B"),
    (["predict", "Llama 3.3 70B", "RTX 3060 12GB"], "Llama 3.3 70B"),
    (["predict", LLAMA, CARD, "--kv", "fp3"], "fp3"),
    (["predict", LLAMA, CARD, "--kv", "fp8", "--options", "kv=fp8"], "kv"),
    (["predict", LLAMA, CARD, "--batch", "all"], "batch"),
    (["tco3y", ""], "GPU"),
    (["tco3y", CARD, "--price", "-1"], "price"),
    (["tco3y", CARD, "--price", "-1,5"], "price"),
    (["tco3y", CARD, "--price", "abc"], "price"),
    (["tco3y", CARD, "--price", "inf"], "price"),
    (["tco3y", CARD, "--price", "-inf"], "price"),
    (["tco3y", CARD, "--price", "1.234,50"], "price"),
    (["tco3y", CARD, "--price", "1e308", "--gpus", "1000"], "answer"),
    (["tco3y", CARD, "--utilization", "1.7"], "utilization"),
    (["tco3y", CARD, "--utilization", "170 %"], "utilization"),
    (["tco3y", CARD, "--options", "nosuch=1"], "nosuch"),
    (["tco3y", CARD, "--options", "pue"], "pue"),
    (["tco3y", CARD, "--options", "pue=1", "--options", "pue=2"], "pue"),
    (["tco3y", CARD, "--gpus", "0"], "gpus"),
    (["tco3y", CARD, "--catalog", "{d}/nowhere.xlsx"], "nowhere.xlsx"),
    (["tco3y", CARD, "--catalog", "{d}/csv"], "prices.csv"),
    (["tco3y", CARD, "--catalog", ""], "catalog"),
    (["cost-per-mtok", LLAMA, CARD, "--utilization", "0"], "utilization"),
    (["price-of", "T4"], "T4"),
    (["breakeven-util", LLAMA, CARD, "0"], "rate"),
    (["breakeven-util", LLAMA, CARD, "-2"], "rate"),
    (["breakeven-util", LLAMA, CARD, "-2,5"], "rate"),
    (["blended-price", "1", "2", "--share-out", "30"], "share_out"),
    (["vram-rule-gb", "70", "--precision", "fp8"], "fp8"),
    (["inputs"], "BOOK"),
    (["inputs", ""], "BOOK"),
    (["inputs", "{d}/not.xlsx"], "not.xlsx"),
    (["inputs", "{d}/empty.xlsx"], "empty.xlsx"),
    (["inputs", "{d}/foreign.xlsx"], "foreign.xlsx"),
    (["inputs", "{d}/locked.xlsx"], "password"),
    (["inputs", "{d}/cut.xlsx"], "cut.xlsx"),
    (["inputs", "{d}/other.xlsx"], "other.xlsx"),
    (["inputs", "{d}/bomb.xlsx"], "bomb.xlsx"),
    (["inputs", "{d}/nowhere.xlsx"], "nowhere.xlsx"),
    (["inputs", "{d}/" + "x" * 300 + ".xlsx"], "xxx"),
    (["inputs", "{d}"], "folder"),
    (["values", "{d}/foreign.xlsx"], "foreign.xlsx"),
    (["check"], "BOOK"),
    (["check", "{d}/foreign.xlsx", "--json", "{d}/new.json"], "foreign.xlsx"),
    (["check", "{d}/bomb.xlsx", "--sarif", "{d}/new.sarif"], "bomb.xlsx"),
    (["values", "{d}/bomb.xlsx", "--json"], "bomb.xlsx"),
    (["template", "{d}/no/such/x.xlsx"], "such"),
    (["template", "{d}/file/x.xlsx"], "file"),
    (["template", "{d}/new.xlsx", "--lang", "xx"], "xx"),
    (["template", "{d}/new.xlsx", "--flavour", "vanilla"], "vanilla"),
    (["template", "{d}/new.xlsx", "--catalog", "{d}/foreign.xlsx"], "foreign.xlsx"),
    (["template", "{d}/new.xls"], "new.xls"),
    (["template", "{d}/folder.xlsx", "--force"], "folder"),
    (["template", "{d}/there.xlsx"], "there.xlsx"),
    (["template", ""], "OUT"),
    (["demo", "{d}/file"], "file"),
    (["demo", "{d}/file/below"], "file"),
    (["demo", ""], "OUT"),
]


def tree(folder: Path) -> dict[str, int]:
    return {str(p.relative_to(folder)): p.stat().st_mtime_ns for p in sorted(folder.rglob("*"))}


def test_many_hostile_inputs() -> None:
    assert len(HOSTILE) >= 40


@pytest.mark.parametrize(("words", "place"), HOSTILE, ids=[" ".join(w)[:60] or "nothing" for w, _ in HOSTILE])
def test_bad_input_is_refused_in_one_sentence(words: list[str], place: str, bad_files: Path, tmp_path: Path) -> None:
    before = tree(bad_files)
    r = run(*(w.replace("{d}", str(bad_files)) for w in words), cwd=tmp_path)
    assert r.returncode == 2, r.stdout + r.stderr
    assert r.stdout == ""
    assert r.stderr.startswith("gpuecon: ")
    assert r.stderr.count("\n") == 1
    assert place in r.stderr.replace(str(bad_files), "")
    assert "Traceback (most" not in r.stderr
    assert "unexpected" not in r.stderr
    assert tree(bad_files) == before
    assert not list(tmp_path.iterdir())


def test_every_problem_of_a_folder_stands_on_its_own_line(tmp_path: Path) -> None:
    shipped = (Path(gx.load_catalog().origin) / "prices.csv").read_text(encoding="utf-8-sig").splitlines()
    bad = [shipped[0], *(line.replace(",", ",abc,", 1) for line in shipped[1:4])]
    (tmp_path / "prices.csv").write_text("\n".join(bad), encoding="utf-8")
    r = run("tco3y", CARD, "--catalog", str(tmp_path))
    assert r.returncode == 2
    first, *more = r.stderr.splitlines()
    assert first.startswith("gpuecon: ")
    assert len(more) >= 3
    assert all("prices.csv line" in line for line in more)


# ------------------------------------------------------------------------------------------------ functions


def cell_arguments(function: Function) -> tuple[Any, ...]:
    inner = function.example.partition("(")[2].rpartition(")")[0]
    return tuple(ast.literal_eval(f"({inner},)")) if inner else ()


@pytest.mark.parametrize("function", FUNCTIONS, ids=[f.name for f in FUNCTIONS])
def test_function_answers_as_python_does(function: Function) -> None:
    wanted = getattr(gx, function.name)(*cell_arguments(function))
    words = shlex.split(cli.cell_example(function))[1:]
    got = answer(*words)
    assert list(got) == ["value", "unit", "inputs", "basis", "note"]
    assert got["value"] == wanted
    assert got["unit"] == function.unit
    assert got["basis"]
    again = {k: v for k, v in got["inputs"].items() if k != "catalog"}  # what it says it used gives the same answer
    repeated = getattr(gx, function.name)(**again)
    assert repeated == (wanted if isinstance(wanted, str | list) else pytest.approx(wanted, rel=1e-12))
    assert set(got["inputs"]) == set(function.arguments)

    r = run(*words)
    assert r.returncode == 0
    assert r.stderr == ""
    assert r.stdout.count("\n") == (len(wanted) if isinstance(wanted, list) else 1)
    if isinstance(wanted, list):
        assert r.stdout.split("\n")[:-1] == wanted
    elif isinstance(wanted, str):
        assert r.stdout.strip() == wanted
    elif function.unit == "1":
        assert r.stdout.strip() == f"{wanted * 100:.2f} %"
    else:
        number, _, unit = r.stdout.strip().partition(" ")
        assert float(number) == pytest.approx(wanted, rel=1e-5)
        assert unit == function.unit


@pytest.mark.parametrize(
    ("text", "value"), [("0.6", 0.6), ("0,6", 0.6), ("60 %", 0.6), ("60%", 0.6), ("62,5 %", 0.625), (" .6 ", 0.6), ("6e-1", 0.6), ("0", 0)]
)
def test_numbers_with_point_comma_or_percent(text: str, value: float) -> None:
    got = answer("tco3y", CARD, "--utilization", text)
    assert got["inputs"]["utilization"] == pytest.approx(value)
    assert got["value"] == pytest.approx(gx.tco3y(CARD, utilization=value))


def test_inputs_are_named_in_full_with_defaults() -> None:
    got = answer("cost-per-mtok", "meta-llama/Llama-3.1-8B-Instruct", "rtx5090")
    used = got["inputs"]
    assert (used["model"], used["gpu"], used["batch"], used["context"], used["gpus"]) == (LLAMA, CARD, 32, 4096, 1)
    assert used["price"] == gx.price_of(CARD)
    assert used["utilization"] == gx.load_catalog().assumption("utilization")
    assert used["precision"]
    assert CARD in got["note"]


def test_options_may_be_repeated_and_change_the_currency() -> None:
    got = answer("tco3y", "L4", "--options", "currency=USD", "--options", "pue=1,2; electricity_eur_kwh=0.3")
    assert got["unit"] == "USD"
    assert got["inputs"]["options"] == {"currency": "USD", "pue": 1.2, "electricity_eur_kwh": 0.3}
    assert got["value"] == pytest.approx(gx.tco3y("L4", options={"currency": "USD", "pue": 1.2, "electricity_eur_kwh": 0.3}))


def test_basis_says_what_the_user_gave() -> None:
    assert answer("tco3y", "L4", "--price", "2704")["basis"] == "given"
    assert answer("tco3y", "L4")["basis"] == "stated"
    assert answer("tokps", LLAMA, "L4", "--options", "tok_s=650") == {
        "value": 650, "unit": "token/s", "basis": "given", "note": "tok_s given: no throughput was predicted, no fit checked",
        "inputs": {"model": LLAMA, "gpu": "L4", "precision": gx_precision(), "batch": 1, "context": 4096, "gpus": 1, "options": {"tok_s": 650},
                   "catalog": None},
    }  # fmt: skip


def gx_precision() -> str:
    return str(gx.load_catalog().find_model(LLAMA)[0]["precision"])


@pytest.mark.parametrize(
    "words", [["tokps", LLAMA, CARD, "--options", "input_tokens=1000"], ["tokps", LLAMA, CARD, "--options", "output_tokens=100"],
              ["cost-per-mtok", LLAMA, CARD, "--options", "output_share=0.5; own_cost=exact"],
              ["breakeven-util", LLAMA, CARD, "0.5", "--options", "rent_gpu=L4"],
              ["token-yield-month", LLAMA, CARD, "--options", "mode=ceiling; kv_reads=0"],
              ["batch-max", LLAMA, CARD, "--gpus", "2", "--options", "tp=2"]],
)  # fmt: skip
def test_options_of_load_and_layout(words: list[str]) -> None:
    got = answer(*words)
    again = {k: v for k, v in got["inputs"].items() if k != "catalog"}
    assert getattr(gx, words[0].replace("-", "_"))(**again) == pytest.approx(got["value"], rel=1e-12)


def test_basis_of_tokps_is_that_of_predict() -> None:
    for row in gx.load_catalog().rows("benchmarks"):
        if row["metric"] == "output_tok_s_total" and row["value"] and row["input_tokens"] and row["output_tokens"] and row["batch"]:
            break
    else:
        pytest.fail("no row of catalog/benchmarks.csv has a total, both token counts and a batch")
    load = {k: f"{row[k]:.0f}" for k in ("batch", "gpus")}
    tokens = [f"{row['input_tokens']:.0f}", f"{row['output_tokens']:.0f}"]
    words = [str(row["model"]), str(row["gpu"]), "--precision", str(row["precision"]), "--batch", load["batch"], "--gpus", load["gpus"]]
    context = f"{row['input_tokens'] + row['output_tokens']:.0f}"
    predicted = answer("predict", *words, "--input-tokens", tokens[0], "--output-tokens", tokens[1])
    got = answer("tokps", *words, "--context", context, "--options", f"input_tokens={tokens[0]}")
    assert got["value"] == pytest.approx(predicted["output_tok_s"])
    assert (got["basis"], got["note"]) == (predicted["basis"], predicted["note"])


@pytest.mark.parametrize(
    ("words", "text"),
    [(["fits", "Llama 3.3 70B", CARD], "no"), (["breakeven-util", LLAMA, CARD, "0.0001"], "rent always wins"),
     (["weights-class", "gpt-oss-120b", "H100 SXM", "--precision", "fp8"], "no")],
)  # fmt: skip
def test_a_no_is_an_answer(words: list[str], text: str) -> None:
    r = run(*words)
    assert (r.returncode, r.stdout.strip(), r.stderr) == (0, text, "")
    assert answer(*words)["value"] == text


def test_predict() -> None:
    words = ["predict", LLAMA, CARD, "--precision", "fp8", "--batch", "16"]
    p = gx.predict(LLAMA, CARD, "fp8", batch=16)
    assert answer(*words) == p.to_dict()
    r = run(*words)
    assert r.returncode == 0
    assert r.stdout.splitlines()[0] == f"{p.output_tok_s:.2f} token/s"
    for text in ("80 % band from", "80 % band to", p.basis, p.bound, p.fits):
        assert text in r.stdout
    most = answer("predict", LLAMA, CARD, "--batch", "max")
    assert most["admitted"] == most["batch_max"]
    split = answer("predict", LLAMA, CARD, "--gpus", "4", "--tp", "2", "--pp", "2", "--kv", "fp8", "--engine", "SGLang", "--mode", "ceiling")
    assert split == gx.predict(LLAMA, CARD, gpus=4, tp=2, pp=2, kv="fp8", engine="SGLang", mode="ceiling").to_dict()


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (64.0, "64"), (2538.651, "2538.65"), (0.1199951, "0.119995"), (4.0406e9 + 0.5, "4040600000"), (-1.5, "-1.5")]
)
def test_number_text(value: float, text: str) -> None:
    assert cli.number_text(value) == text


# ------------------------------------------------------------------------------------------------ help, streams, faults


@pytest.mark.parametrize("name", list(cli.commands()))
def test_help_has_an_example(name: str) -> None:
    r = run(name, "--help")
    assert r.returncode == 0
    assert r.stderr == ""
    command = cli.commands()[name]
    assert command.purpose()
    assert f"example:\n  {command.example}" in r.stdout
    assert "--json" in r.stdout
    page = run("--help").stdout if name == "tokps" else ""
    assert not page or all(f"\n  {n} " in page for n in cli.commands())


def test_version() -> None:
    r = run("--version")
    assert (r.returncode, r.stdout) == (0, f"gpuecon {gx.__version__}\n")


def test_installed_script_is_this_command_line() -> None:
    script = Path(sys.executable).with_name("gpuecon.exe" if os.name == "nt" else "gpuecon")
    assert script.exists(), "the command gpuecon is not beside this Python; install the package with pip"
    r = subprocess.run([script, "tco3y", "L4", "--price", "0"], capture_output=True, text=True, timeout=60)
    assert (r.returncode, r.stderr) == (0, "")


def test_functions_import_nothing_heavy() -> None:
    code = "import sys; from gpuecon_xl import cli; cli.main(sys.argv[1:]); print(*sys.modules)"
    r = subprocess.run([sys.executable, "-c", code, "tokps", LLAMA, CARD, "--json"], capture_output=True, text=True, timeout=60)
    loaded = set(r.stdout.splitlines()[-1].split())
    assert not loaded & {"rich", "openpyxl", "xlsxwriter", "numpy", "pandas", "xlwings"}


def test_interrupt_is_quiet() -> None:
    # a shell that starts this in the background lets it ignore the signal
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    r = patched(f"def dispatch(words):\n    {heard}\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(10)")
    assert (r.returncode, r.stdout, r.stderr) == (130, "", "")


def test_closed_pipe_is_quiet() -> None:
    p = subprocess.Popen([*GPUECON, "values", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.stdout is not None
    assert p.stderr is not None
    p.stdout.close()
    assert p.wait(60) == 0
    assert p.stderr.read() == ""
    p.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_is_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        r = subprocess.run([*GPUECON, "tco3y", "L4"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (r.returncode, r.stderr) == (2, "gpuecon: No space left on device\n")


def test_unexpected_fault_is_one_sentence() -> None:
    code = "def dispatch(words):\n    raise ZeroDivisionError('float division by zero')"
    r = patched(code)
    assert r.returncode == 2
    assert r.stderr.count("\n") == 1
    assert "ZeroDivisionError" in r.stderr
    assert "report" in r.stderr
    assert "Traceback (most recent call last)" in patched(code, "--debug").stderr


def test_output_that_the_terminal_cannot_show() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for words in (["price-of", CARD, "--json"], ["predict", LLAMA, CARD], ["--help"]):
        r = subprocess.run([*GPUECON, *words], capture_output=True, env=environment, timeout=60)
        assert r.returncode == 0, r.stderr
        r.stdout.decode("ascii")
    r2 = subprocess.run([*GPUECON, "price-of", "Käse"], capture_output=True, env=environment, timeout=60)
    assert r2.returncode == 2


# ------------------------------------------------------------------------------------------------ workbooks


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("book") / "gpuecon.xlsx"
    r = run("template", str(path))
    assert r.returncode == 0, r.stderr
    assert r.stdout.startswith(str(path))
    return path


def edit(source: Path, target: Path, table: str, key: str, column: str, value: Any) -> Path:
    book = openpyxl.load_workbook(source)
    for sheet in book.worksheets:
        if table in sheet.tables:
            head, *rows = sheet[sheet.tables[table].ref]
            names = [c.value for c in head]
            next(r for r in rows if r[0].value == key)[names.index(column)].value = value
            book.save(target)
            return target
    raise AssertionError(f"no table {table}")


@pytest.fixture(scope="session")
def edited(template: Path) -> Path:
    return edit(template, template.with_name("edited.xlsx"), "Prices", CARD, "typical", 2499.5)


@pytest.mark.parametrize(("lang", "flavour"), [("en", "plain"), ("DE", "classic"), ("da", "lite"), ("en", "libreoffice")])
def test_template(lang: str, flavour: str, tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    got = answer("template", str(path), "--lang", lang, "--flavour", flavour)
    assert got["bytes"] == path.stat().st_size
    assert got["formulas"] > 1000
    assert (got["file"], got["lang"], got["flavour"]) == (str(path), lang.lower(), flavour)
    assert [p.name for p in tmp_path.iterdir()] == ["book.xlsx"]


def test_template_keeps_what_exists(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.xlsx"
    path.write_bytes(b"mine")
    r = run("template", str(path))
    assert r.returncode == 2
    assert "--force" in r.stderr
    assert path.read_bytes() == b"mine"
    assert run("template", str(path), "--force").returncode == 0
    assert path.read_bytes() == template.read_bytes()


def test_template_of_an_edited_book_keeps_the_edit(edited: Path, tmp_path: Path) -> None:
    path = tmp_path / "again.xlsx"
    r = run("template", str(path), "--catalog", str(edited))
    assert r.returncode == 0, r.stderr
    changed = answer("inputs", str(path))["changed"]
    assert [(c["table"], c["row"], c["column"], c["to"]) for c in changed] == [("Prices", CARD, "typical", 2499.5)]


def test_inputs_of_the_template_differ_in_nothing(template: Path) -> None:
    got = answer("inputs", str(template))
    assert got["changed"] == []
    assert got["counts"]["rows"] > 100
    assert run("inputs", str(template)).returncode == 0


def test_inputs_shows_an_edit(edited: Path) -> None:
    got = answer("inputs", str(edited))
    assert got["changed"] == [{"table": "Prices", "row": CARD, "column": "typical", "from": 2800, "to": 2499.5}]
    assert got["counts"]["changed"] == 1
    assert got["counts"]["warnings"] == len(got["warnings"])
    r = run("inputs", str(edited))
    assert r.returncode == 0
    line = next(x for x in r.stdout.splitlines() if CARD in x)
    assert line.split() == ["Prices", *CARD.split(), "typical", "2800", "2499.5"]


def test_inputs_warns_of_doubtful_ranges(template: Path, tmp_path: Path) -> None:
    book = edit(template, tmp_path / "odd.xlsx", "Prices", CARD, "typical", 99)
    got = answer("inputs", str(book))
    assert any(CARD in w for w in got["warnings"])
    assert "warnings" in run("inputs", str(book)).stdout


@pytest.fixture(scope="session")
def twice_bad(template: Path) -> Path:
    one = edit(template, template.with_name("bad.xlsx"), "Prices", CARD, "typical", "cheap")
    return edit(one, one, "Cards", "L4", "tdp_w", -5)


@pytest.mark.parametrize("words", [["inputs"], ["values", "--json"], ["tco3y", CARD, "--catalog"], ["template", "out.xlsx", "--catalog"]])
def test_every_bad_cell_is_named(words: list[str], twice_bad: Path, tmp_path: Path) -> None:
    r = run(*words, str(twice_bad), cwd=tmp_path)
    assert r.returncode == 2
    assert r.stdout == ""
    first, *more = r.stderr.splitlines()
    assert first.startswith("gpuecon: ")
    assert any("Prices!" in line and "cheap" in line for line in more)
    assert any("Cards!" in line and "-5" in line for line in more)
    assert "Traceback" not in r.stderr
    assert not list(tmp_path.iterdir())


def test_edits_of_rows() -> None:
    shipped = gx.load_catalog()
    prices = [dict(r) for r in shipped.rows("prices")]
    gone = prices.pop(0)
    prices[0]["note"] = ""
    prices.append({**dict.fromkeys(gone), "gpu": "Card of ours", "typical": 1000.0, "high": 0.0})
    changed = cli.edits(gx.Catalog({**shipped.tables, "prices": prices}, "edited"), shipped)
    assert [(c["row"], c["column"], c["from"], c["to"]) for c in changed if c["column"] != "note"] == [
        ("Card of ours", "gpu", None, "Card of ours"),
        ("Card of ours", "typical", None, 1000),
        (gone["gpu"], "gpu", gone["gpu"], None),
    ]
    assert {c["table"] for c in changed} == {"Prices"}


def test_edited_book_answers_in_functions(edited: Path) -> None:
    got = answer("tco3y", CARD, "--catalog", str(edited))
    assert got["value"] == pytest.approx(gx.tco3y(CARD, price=2499.5))
    assert got["inputs"]["catalog"] == str(edited)
    assert run("price-of", CARD, "--catalog", str(edited)).stdout.strip() == "2499.50 EUR"


def test_values(edited: Path, template: Path) -> None:
    got = answer("values", str(edited))
    assert "unknown" in got
    assert sum(len(cells) for cells in got.values()) > 1000
    assert got != answer("values", str(template))
    r = run("values", str(edited))
    assert r.returncode == 0
    titles = [t for t, cells in got.items() if t != "unknown" and cells]
    assert all(t in r.stdout for t in titles)


def test_values_lists_own_formulas_apart(template: Path, tmp_path: Path) -> None:
    book = openpyxl.load_workbook(template)
    book.create_sheet("Mine")["A1"] = "=1+1"
    book.save(tmp_path / "own.xlsx")
    got = answer("values", str(tmp_path / "own.xlsx"))
    assert list(got["unknown"]) == ["Mine!A1"]
    assert "1 formulas of your own" in run("values", str(tmp_path / "own.xlsx")).stdout


def test_demo(tmp_path: Path) -> None:
    out = tmp_path / "new" / "demo"
    r = run("demo", str(out))
    assert r.returncode == 0, r.stderr
    names = ["gpuecon-da.xlsx", "gpuecon-de.xlsx", "gpuecon-en-edited.xlsx", "gpuecon-en.xlsx"]
    assert sorted(p.name for p in out.iterdir()) == names
    for text in ("Total cost over three years", "million output tokens", "Break-even", "2800", "2520", "gpuecon inputs"):
        assert text in r.stdout

    before = tree(out)
    again = run("demo", str(out))
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert tree(out) == before

    got = answer("demo", str(out), "--force")
    assert sorted(got["files"]) == names
    assert got["changed"] == [{"table": "Prices", "row": CARD, "column": "typical", "from": 2800, "to": 2520}]
    assert got["computed"]["formulas"] > 1000
    tco = next(f for f in got["figures"] if f["figure"].startswith("Total cost"))
    assert tco["shipped"] == pytest.approx(gx.tco3y(CARD))
    assert tco["edited"] == pytest.approx(gx.tco3y(CARD, price=2520))


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_progress_on_a_terminal_only(template: Path) -> None:
    import pty

    master, slave = pty.openpty()
    code = "import time, sys\nfrom gpuecon_xl import cli\nwith cli._busy('Working'):\n    time.sleep(1.5)\nwith cli._busy('Short'):\n    pass"
    subprocess.run([sys.executable, "-c", code], stderr=slave, timeout=60, check=True)
    os.close(slave)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert "Working" in shown
    assert "Short" not in shown
    assert run("values", str(template)).stderr == ""
