"""Workbooks that many tests look at, made once: the templates, their cells, what the core says of them."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from oracles import formula_cells

from gpuecon_xl.catalog import shipped
from gpuecon_xl.reader import book_values
from gpuecon_xl.writer import write_template

LANGUAGES = ("en", "de", "da")


def pytest_configure(config: pytest.Config) -> None:
    # openpyxl tells of what it does not keep (extensions of conditional formats); it is no concern of these tests
    config.addinivalue_line("filterwarnings", "ignore::UserWarning:openpyxl")


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], Any]], Any]:
    """Call `once(name, make)`: the first process makes, in a folder of its own; other processes wait for what it made."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base

    def run(name: str, make: Callable[[Path], Any]) -> Any:
        folder, done = base / name, base / f"{name}.done"
        try:
            folder.mkdir()
        except FileExistsError:
            end = time.monotonic() + 900
            while not done.exists():
                assert time.monotonic() < end, f"{name} was not made in time"
                time.sleep(0.2)
        else:
            try:
                result: tuple[bool, Any] = (True, make(folder))
            except Exception as error:
                result = (False, f"{type(error).__name__}: {error}")
            part = base / f"{name}.part"
            part.write_bytes(pickle.dumps(result))
            part.rename(done)
        fine, value = pickle.loads(done.read_bytes())
        assert fine, value
        return value

    return run


def _templates(folder: Path) -> dict[str, Path]:
    out = {}
    for lang in LANGUAGES:
        out[lang] = folder / f"template-{lang}.xlsx"
        write_template(out[lang], catalog=shipped(), lang=lang)
        out[lang].chmod(0o444)
    return out


@pytest.fixture(scope="session")
def templates(once: Callable[..., Any]) -> dict[str, Path]:
    """The template in every language; read only."""
    found: dict[str, Path] = once("templates", _templates)
    return found


@pytest.fixture(scope="session")
def books(templates: dict[str, Path]) -> dict[str, Any]:
    """The templates as openpyxl sees them, with formulas; not to be changed."""
    return {lang: openpyxl.load_workbook(path) for lang, path in templates.items()}


@pytest.fixture(scope="session")
def formulas(templates: dict[str, Path], once: Callable[..., Any]) -> dict[str, dict[str, list[str]]]:
    """Addresses of the formula cells of the templates, by language and sheet."""
    found: dict[str, dict[str, list[str]]] = once("formulas", lambda _: {lang: formula_cells(path) for lang, path in templates.items()})
    return found


@pytest.fixture(scope="session")
def core(templates: dict[str, Path], once: Callable[..., Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """What the core says of every formula cell of the templates."""
    found: dict[str, dict[str, dict[str, Any]]] = once("core", lambda _: {lang: book_values(path) for lang, path in templates.items()})
    return found
