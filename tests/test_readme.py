"""The README tells the truth: its commands are those that are run, its links exist, its examples give what they print."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from gpuecon_xl import cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES = ("README.md", "CONTRIBUTING.md")
MAX_PICTURE = 250_000


def blocks(language: str, text: str = README) -> list[str]:
    """Fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def console() -> list[tuple[str, str]]:
    """Commands of the README with what they print."""
    found: list[list[str]] = []
    for line in "".join(blocks("console")).splitlines():
        if line.startswith("$ "):
            found.append([line[2:]])
        else:
            found[-1].append(line)
    return [(c[0], "\n".join(c[1:])) for c in found]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the README's first job was done; its examples run there."""
    folder = tmp_path_factory.mktemp("readme")
    assert cli.main(["demo", str(folder / "demo"), "--force"]) == 0
    return folder


def squeezed(text: str) -> str:
    """A table's text without its rule and blank lines, single blanks."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip(" ─")) + "\n"


# ------------------------------------------------------------------------------------------------ the two jobs


def test_first_block_runs_the_main_job() -> None:
    assert blocks("sh")[0].splitlines() == [
        "python3 -m venv .venv",
        ".venv/bin/pip install -e .",
        ".venv/bin/gpuecon demo demo --force",
    ]


def test_second_block_runs_the_tests() -> None:
    assert blocks("sh")[1].splitlines() == ["python3 -m venv .venv", ".venv/bin/pip install -e '.[test]'", ".venv/bin/pytest"]


def test_no_other_fence_confuses_them() -> None:
    """Fences stand at the start of a line and come in pairs, so that counting them finds the same blocks."""
    fences = re.findall(r"^[ \t]*```.*$", README, re.MULTILINE)
    assert len(fences) % 2 == 0
    assert all(f.startswith("```") for f in fences)
    assert all(f == "```" for f in fences[1::2])


@pytest.mark.skipif(shutil.which("awk") is None, reason="needs awk")
def test_continuous_integration_extracts_the_second() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    found = re.search(r"awk '([^']*)' README\.md", script)
    assert found, ".ci/run does not take its test command from the README"
    done = subprocess.run(["awk", found[1], str(ROOT / "README.md")], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout == blocks("sh")[1]


def test_main_job_again(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run of the first block, in the folder of the first."""
    monkeypatch.chdir(place)
    command = blocks("sh")[0].splitlines()[-1].removeprefix(".venv/bin/gpuecon ")
    assert cli.main(shlex.split(command)) == 0
    names = {p.name for p in (place / "demo").iterdir()}
    assert names == {"gpuecon-en.xlsx", "gpuecon-de.xlsx", "gpuecon-da.xlsx", "gpuecon-en-edited.xlsx"}
    assert capsys.readouterr().err == ""


# ------------------------------------------------------------------------------------------------ links and pictures


@pytest.mark.parametrize("guide", GUIDES)
def test_links_exist(guide: str) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / guide).read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not link.startswith("#") and not (ROOT / link.partition("#")[0]).exists()]
    assert not missing
    assert guide != "README.md" or links


@pytest.mark.parametrize("guide", GUIDES)
def test_paths_in_code_exist(guide: str) -> None:
    """A file or folder named with a slash in code quotes exists; examples of new files are not of this form."""
    text = re.sub(r"^```.*?^```", "", (ROOT / guide).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"`((?:gpuecon_xl|tests|catalog|workbook|\.ci)/[\w./-]*)`", text)
    assert not [n for n in named if not (ROOT / n).exists()]


def test_pictures_are_used_and_small() -> None:
    used = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert len(used) >= 3
    assert sorted(used) == sorted(f"workbook/pictures/{p.name}" for p in (ROOT / "workbook" / "pictures").iterdir())
    for picture in used:
        content = (ROOT / picture).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) < MAX_PICTURE


def test_one_picture_stands_before_the_first_command() -> None:
    assert README.partition("```sh")[0].count("![") == 1


# ------------------------------------------------------------------------------------------------ examples


def test_python_examples(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    example = doctest.DocTestParser().get_doctest("\n".join(blocks("python")), {}, "README.md", "README.md", 0)
    assert len(example.examples) > 10
    printed: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    result = runner.run(example, out=printed.append)
    assert result.failed == 0, "".join(printed)


@pytest.mark.parametrize(("command", "printed"), console(), ids=[c[:40] for c, _ in console()])
def test_console_examples(command: str, printed: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(place)
    words = shlex.split(command)
    assert words[0] == "gpuecon"
    if words[1] == "template":
        words.append("--force")
    code = cli.main(words[1:])
    out = capsys.readouterr()
    assert code == (2 if printed.startswith("gpuecon: ") else 0), out.err
    got, wanted = squeezed(out.out + out.err), squeezed(printed)
    assert doctest.OutputChecker().check_output(wanted, got, doctest.ELLIPSIS), f"{wanted}\n---\n{got}"


@pytest.mark.parametrize("guide", GUIDES)
def test_commands_exist(guide: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command that a guide names answers --help, and its help knows the options that are given."""
    text = (ROOT / guide).read_text(encoding="utf-8")
    lines = [m[1] for m in re.finditer(r"(?:^|[$ `/])gpuecon ([a-z0-9][^\n`]*)", text, re.MULTILINE)]
    named = [(w[0], [o.strip(";.,") for o in w if o.startswith("--")]) for w in (line.split() for line in lines) if w[0] in cli.commands()]
    assert named or guide != "README.md"
    for command, options in named:
        assert cli.main([command, "--help"]) == 0
        page = capsys.readouterr().out
        assert not [o for o in options if o not in page], (command, options)


def test_sheets_are_those_of_the_book() -> None:
    """The table of sheets names each sheet once."""
    texts = tomllib.loads((ROOT / "gpuecon_xl" / "lang" / "en.toml").read_text(encoding="utf-8"))["sheet"].values()
    table = README.partition("| sheet |")[2].partition("\n\n")[0].splitlines()[2:]
    assert sorted(name.strip() for row in table for name in row.split("|")[1].split(",")) == sorted(texts)


# ------------------------------------------------------------------------------------------------ the whole house


def tracked() -> list[Path]:
    """Text files that belong to the house."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in done.stdout.split("\0") if name]
    return [f for f in files if f.is_file() and f.suffix not in (".xlsx", ".png", ".oxt")]


def test_no_foreign_words() -> None:
    """No paths of a machine, no hosts of package registries: the house stands on its own."""
    # written in two parts, so that this file does not hold them itself
    paths = ("/wo" + "rk/", "/t" + "mp/", "/ho" + "me/", "/ro" + "ot/")
    hosts = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.", "conda" + ".anaconda", "index" + "-url", "trusted" + "-host")
    pattern = re.compile("|".join(map(re.escape, paths + hosts)) + r"|(?<!scope=.)\bsess" + r"ions?\b", re.IGNORECASE)
    wrong = []
    for file in tracked():
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if pattern.search(line) and "pip-compile" not in line:
                wrong.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert not wrong


def test_lock_is_pinned_with_hashes() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text
    pins = re.findall(r"^([A-Za-z0-9_.-]+)==\S+ \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE)
    names = {name.lower().replace("_", "-") for name, _ in pins}
    assert len(names) == len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    assert not {re.split(r"[^A-Za-z0-9_.-]", w)[0].lower().replace("_", "-") for w in wanted} - names


def test_the_request_is_one(tmp_path: Path) -> None:
    (request,) = blocks("toml")
    (tmp_path / "request.toml").write_text(request, encoding="utf-8")
    seller = ROOT / "tests" / "quotes" / "seller.toml"
    assert cli.main(["quote", str(tmp_path / "request.toml"), "-o", str(tmp_path / "offer.xlsx"), "--seller", str(seller)]) == 0
