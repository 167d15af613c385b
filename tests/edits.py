"""Edits of a template as people make them, with openpyxl; random ones by a seed.

Here: what a person types, clears, moves, adds. Not here: what the product makes of it; only names of tables and columns are known.
"""

from __future__ import annotations

import datetime as dt
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.utils import get_column_letter, range_boundaries


class Edited:
    """A workbook opened for editing; every change of a cell can be taken back."""

    def __init__(self, path: Path) -> None:
        self.book = openpyxl.load_workbook(path)
        self.where: dict[str, tuple[Any, Any]] = {t.name: (ws, t) for ws in self.book.worksheets for t in ws.tables.values()}
        self._journal: list[tuple[Any, Any]] = []
        self.log: list[str] = []

    # ---- finding ----

    def heads(self, table: str) -> list[str]:
        """Column names."""
        return [c.name for c in self.where[table][1].tableColumns]

    def span(self, table: str) -> tuple[int, int, int, int]:
        """Left column, header row, right column, last row."""
        found: tuple[int, int, int, int] = range_boundaries(self.where[table][1].ref)
        return found

    def cell(self, table: str, row: int, column: str) -> Any:
        """A cell; `row` counts from 0 below the header."""
        left, top, _, _ = self.span(table)
        return self.where[table][0].cell(top + 1 + row, left + self.heads(table).index(column))

    def place(self, table: str, row: int, column: str) -> str:
        """A cell as messages name it."""
        c = self.cell(table, row, column)
        return f"{c.parent.title}!{c.coordinate}"

    def count(self, table: str) -> int:
        """Rows of a table, blank ones too."""
        _, top, _, bottom = self.span(table)
        return bottom - top

    def rows(self, table: str) -> list[int]:
        """Rows whose first column is filled."""
        first = self.heads(table)[0]
        return [r for r in range(self.count(table)) if self.cell(table, r, first).value not in (None, "")]

    def row(self, table: str, name: str) -> int:
        """The row of a name in the first column."""
        first = self.heads(table)[0]
        return next(r for r in self.rows(table) if self.cell(table, r, first).value == name)

    def value(self, table: str, name: str, column: str) -> Any:
        """What stands in a row."""
        return self.cell(table, self.row(table, name), column).value

    def shown(self, table: str, values: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows of a table, blank ones too, with the values that a reader shows by sheet and cell; None where it has none."""
        left, top, _, bottom = self.span(table)
        of_sheet = values[self.where[table][0].title]
        heads = self.heads(table)
        return [{h: of_sheet.get(f"{get_column_letter(left + i)}{r}") for i, h in enumerate(heads)} for r in range(top + 1, bottom + 1)]

    # ---- changing ----

    def write(self, cell: Any, value: Any) -> None:
        """Type something into a cell."""
        self._journal.append((cell, cell.value))
        cell.value = value

    def put(self, table: str, name: str, column: str, value: Any) -> str:
        """Type something into the row of a name; the place."""
        row = self.row(table, name)
        self.write(self.cell(table, row, column), value)
        return self.place(table, row, column)

    def add(self, table: str, /, *, row: int | None = None, **values: Any) -> int:
        """Fill the first blank row, or the row given."""
        if row is None:
            row = max(self.rows(table), default=-1) + 1
        for column, value in values.items():
            self.write(self.cell(table, row, column), value)
        return row

    def like(self, table: str, name: str, /, **values: Any) -> int:
        """Add a copy of a row with some values of its own."""
        old = self.row(table, name)
        return self.add(table, **{h: self.cell(table, old, h).value for h in self.heads(table)} | values)

    def contents(self, table: str, row: int) -> list[Any]:
        """Values of a row."""
        return [self.cell(table, row, h).value for h in self.heads(table)]

    def fill(self, table: str, row: int, values: list[Any]) -> None:
        """Replace the values of a row."""
        for h, v in zip(self.heads(table), values, strict=True):
            self.write(self.cell(table, row, h), v)

    def clear(self, table: str, row: int) -> None:
        """Empty a row, leaving a hole."""
        self.fill(table, row, [None] * len(self.heads(table)))

    def remove(self, table: str, row: int) -> None:
        """Delete a row: those below move up, the last one becomes blank."""
        for r in range(row, self.count(table) - 1):
            self.fill(table, r, self.contents(table, r + 1))
        self.clear(table, self.count(table) - 1)

    def swap(self, table: str, one: int, other: int) -> None:
        """Exchange two rows."""
        a, b = self.contents(table, one), self.contents(table, other)
        self.fill(table, one, b)
        self.fill(table, other, a)

    def extend(self, table: str, rows: int) -> None:
        """Grow the table downwards."""
        left, top, right, bottom = self.span(table)
        t = self.where[table][1]
        t.ref = f"{get_column_letter(left)}{top}:{get_column_letter(right)}{bottom + rows}"
        if t.autoFilter is not None:
            t.autoFilter.ref = t.ref

    def save(self, path: Path) -> Path:
        """Save as a new file."""
        self.book.save(path)
        return path

    def undo(self) -> None:
        """Take every change of a cell back."""
        for cell, value in reversed(self._journal):
            cell.value = value
        self._journal.clear()
        self.log.clear()


def give_values(path: Path, values: dict[tuple[str, str], float]) -> None:
    """Store values beside formulas, as Excel does when it saves; {(sheet title, address): value}."""
    titles = openpyxl.load_workbook(path, read_only=True).sheetnames
    with zipfile.ZipFile(path) as package:
        parts = {i.filename: package.read(i) for i in package.infolist()}
    for (title, address), value in values.items():
        name = f"xl/worksheets/sheet{titles.index(title) + 1}.xml"
        text, count = re.subn(
            rf'(<c r="{address}"[^>]*>\s*<f>.*?</f>)\s*<v\s*/>|(<c r="{address}"[^>]*>\s*<f>.*?</f>)\s*<v></v>',
            lambda m, v=value: f"{m[1] or m[2]}<v>{v!r}</v>",
            parts[name].decode(),
            flags=re.S,
        )
        assert count == 1, (title, address, count)
        parts[name] = text.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, body in parts.items():
            package.writestr(name, body)


# ------------------------------------------------------------------------------------------------ random edits


def _numbers(e: Edited, rng: random.Random, table: str, columns: tuple[str, ...], times: int, low: float = 0.8, high: float = 1.25) -> Iterator[str]:
    for _ in range(times):
        row, column = rng.choice(e.rows(table)), rng.choice(columns)
        c = e.cell(table, row, column)
        if isinstance(c.value, int | float) and c.value:
            new = c.value * rng.uniform(low, high)
            e.write(c, max(1, round(new)) if isinstance(c.value, int) and c.value >= 4 else new)
            yield f"{table} {e.contents(table, row)[0]} {column} {c.value}"


def _prices(e: Edited, rng: random.Random) -> Iterator[str]:
    yield from _numbers(e, rng, "Prices", ("low", "typical", "high"), 5)


def _price_gone(e: Edited, rng: random.Random) -> Iterator[str]:
    row, column = rng.choice(e.rows("Prices")), rng.choice(("typical", "low", "high", "source", "as_of"))
    e.write(e.cell("Prices", row, column), None)
    yield f"Prices {e.contents('Prices', row)[0]} without {column}"


def _dollars(e: Edited, rng: random.Random) -> Iterator[str]:
    row = rng.choice(e.rows("Prices"))
    e.write(e.cell("Prices", row, "currency"), "USD")
    yield f"Prices {e.contents('Prices', row)[0]} in USD"


def _free_card(e: Edited, rng: random.Random) -> Iterator[str]:
    row = rng.choice(e.rows("Prices"))
    e.write(e.cell("Prices", row, "typical"), 0)
    yield f"Prices {e.contents('Prices', row)[0]} for nothing"


def _cards(e: Edited, rng: random.Random) -> Iterator[str]:
    columns = ("memory_gb", "memory_usable_mib", "bandwidth_gb_s", "tflops_16", "tflops_fp8", "tops_int8", "tdp_w")
    priced = {e.cell("Prices", r, "gpu").value for r in e.rows("Prices")}
    for row in rng.sample([r for r in e.rows("Cards") if e.cell("Cards", r, "gpu").value in priced], 4):
        c = e.cell("Cards", row, rng.choice(columns))
        if c.value:
            e.write(c, c.value * rng.uniform(0.5, 1.5))
        yield f"Cards {e.contents('Cards', row)[0]} {c.coordinate} {c.value}"


def _card_without(e: Edited, rng: random.Random) -> Iterator[str]:
    name = rng.choice(["RTX 5090", "L4", "L40", "H100 SXM"])
    column = rng.choice(["tflops_fp8", "tops_int8", "tdp_w", "bandwidth_gb_s", "link", "efficiency_class", "memory_usable_mib"])
    e.put("Cards", name, column, None)
    yield f"Cards {name} without {column}"


def _models(e: Edited, rng: random.Random) -> Iterator[str]:
    used = sorted({str(e.cell("Workloads", r, "model").value) for r in e.rows("Workloads")} | {"Llama 3.1 8B"})
    for _ in range(3):
        name, column = rng.choice(used), rng.choice(["params_b", "active_b", "layers", "hidden", "kv_heads", "head_dim", "max_context", "window"])
        old = e.value("Models", name, column)
        if isinstance(old, int | float) and old:
            e.put("Models", name, column, max(1, round(old * rng.uniform(0.7, 1.4))) if isinstance(old, int) else old * rng.uniform(0.7, 1.4))
            yield f"Models {name} {column}"


_SHARES = (
    "utilization",
    "output_share",
    "headroom_wanted",
    "memory_free_share",
    "idle_share",
    "residual_share",
    "spec_accept",
    "yield_utilization",
)


def _assumptions(e: Edited, rng: random.Random) -> Iterator[str]:
    numbers = [r for r in e.rows("Assumptions") if isinstance(e.cell("Assumptions", r, "value").value, int | float)]
    for row in rng.sample(numbers, 8):
        name, c = e.cell("Assumptions", row, "name").value, e.cell("Assumptions", row, "value")
        if name in ("collectives", "kv_reads"):
            new: float = rng.choice([0, 1])
        elif name in _SHARES or name == "tp_factor":
            new = round(rng.uniform(0.05, 0.95), 3)
        elif name == "spec_draft":
            new = rng.choice([1, 3, 5])
        elif name == "prefix_tokens":
            new = rng.choice([64, 300, 2000])
        elif name in ("licence_eur_gpu_year", "staff_eur_gpu_year", "colo_eur_year"):
            new = rng.choice([0, 100, 450.5])
        else:
            new = c.value * rng.uniform(0.8, 1.3)
        e.write(c, new)
        yield f"{name} {new}"


_FINANCE = {
    "hosting_eur_kw_month": 250,
    "failure_share_year": 0.1,
    "ramp_months": 40,
    "resale_start_share": 1,
    "resale_decline_year": 1,
    "loan_share": 1,
    "loan_rate_year": 0.15,
    "equity_return_year": 0.2,
    "tax_rate": 0.5,
    "cloud_erosion_year": 0.5,
    "api_erosion_year": 0.8,
}


def _finance(e: Edited, rng: random.Random) -> Iterator[str]:
    for name in rng.sample(sorted(_FINANCE), 6):
        value = round(rng.uniform(0, _FINANCE[name]), 3)
        e.put("Assumptions", name, "value", value)
        yield f"{name} {value}"
    e.put("Assumptions", "horizon_years", "value", rng.choice([2, 3.3, 4, 5]))
    for row in range(rng.randint(0, 3)):
        e.write(e.cell("FxRates", row, "date"), dt.date(2026 + rng.randint(0, 3), rng.randint(1, 12), 15))
        e.write(e.cell("FxRates", row, "usd_per_eur"), round(rng.uniform(0.9, 1.4), 3))
        yield "an exchange rate"


def _speculation(e: Edited, rng: random.Random) -> Iterator[str]:
    for name, value in (("spec_accept", rng.choice([0.5, 0.8, 1])), ("spec_draft", rng.choice([2, 4]))):
        e.put("Assumptions", name, "value", value)
        yield f"{name} {value}"


def _choices(e: Edited, rng: random.Random) -> Iterator[str]:
    def one_of(table: str, column: str) -> Any:
        return e.cell(table, rng.choice(e.rows(table)), column).value

    for name, value in rng.sample(
        [
            ("engine", one_of("Engines", "engine")),
            ("fit_precision", one_of("Precisions", "precision")),
            ("look_at_build", one_of("Builds", "build")),
            ("look_at_workload", one_of("Workloads", "workload")),
            ("compare_rate", one_of("Rates", "rate")),
            ("compare_api", one_of("Apis", "api")),
            ("yield_card", one_of("Cards", "gpu")),
            ("look_at_build", "no such build"),
        ],
        2,
    ):
        e.put("Assumptions", name, "value", value)
        yield f"{name} {value}"


def _workloads(e: Edited, rng: random.Random) -> Iterator[str]:
    yield from _numbers(e, rng, "Workloads", ("batch", "input_tokens", "output_tokens", "min_tok_s_user", "max_power_w", "max_budget_eur"), 6, 0.3, 3)
    for _ in range(3):
        row, column = rng.choice(e.rows("Workloads")), rng.choice(["need_ecc", "no_consumer", "need_datacenter", "need_stock"])
        e.write(e.cell("Workloads", row, column), rng.choice(["yes", "no", None]))
    row = rng.choice(e.rows("Workloads"))
    e.write(e.cell("Workloads", row, "precision"), e.cell("Precisions", rng.choice(e.rows("Precisions")), "precision").value)
    e.write(e.cell("Workloads", row, "kv"), rng.choice([None, "fp8", "fp16"]))
    yield f"workload {e.contents('Workloads', row)[0]} in {e.cell('Workloads', row, 'precision').value}"


def _other_model(e: Edited, rng: random.Random) -> Iterator[str]:
    row = rng.choice(e.rows("Workloads"))
    e.write(e.cell("Workloads", row, "model"), e.cell("Models", rng.choice(e.rows("Models")), "model").value)
    yield f"workload {e.contents('Workloads', row)[0]} with {e.cell('Workloads', row, 'model').value}"


def _builds(e: Edited, rng: random.Random) -> Iterator[str]:
    for _ in range(3):
        row = rng.choice(e.rows("Builds"))
        column, value = rng.choice(
            [
                ("gpus", rng.choice([1, 2, 3, 6, 16])),
                ("tp_wanted", rng.choice([1, 2])),
                ("pp_wanted", 2),
                ("chassis_wanted_eur", 777.5),
                ("chassis_wanted_eur", 0),
                ("stocked", "no"),
                ("rack_units", 3),
            ]
        )
        e.write(e.cell("Builds", row, column), value)
        yield f"build {e.contents('Builds', row)[0]} {column} {value}"


def _new_build(e: Edited, rng: random.Random) -> Iterator[str]:
    gpu = e.cell("Prices", rng.choice(e.rows("Prices")), "gpu").value
    n = rng.choice([1, 2, 4, 8])
    e.add("Builds", build=f"own {n}x {gpu}", gpu=gpu, gpus=n, stocked="yes")
    yield f"new build {n}x {gpu}"


def _new_workload(e: Edited, rng: random.Random) -> Iterator[str]:
    if len(e.rows("Workloads")) >= 16:
        return
    e.add(
        "Workloads",
        workload=f"own {rng.randrange(10**6)}",
        model=rng.choice(["Qwen3-32B", "Llama 3.1 8B", "gpt-oss-20b"]),
        precision=rng.choice(["fp8", "int4-awq"]),
        batch=rng.randint(1, 200),
        input_tokens=rng.randint(64, 8000),
        output_tokens=rng.randint(16, 2000),
        need_ecc="yes",
    )
    yield "new workload"


def _new_card(e: Edited, rng: random.Random) -> Iterator[str]:
    name = f"Own card {rng.randrange(100)}"
    e.like("Cards", "L40S", gpu=name, memory_gb=64, memory_usable_mib=65000, bandwidth_gb_s=1111.5)
    e.like("Prices", "L40", gpu=name, typical=rng.randint(1000, 9000))
    e.add("Builds", build=f"2x {name}", gpu=name, gpus=2)
    e.write(e.cell("Speed", rng.randrange(e.count("Speed")), "gpu"), name)
    yield f"new card {name}"


def _new_rate(e: Edited, rng: random.Random) -> Iterator[str]:
    e.add("Rates", rate="own rate", gpu="L4", term="on-demand", currency=rng.choice(["EUR", "USD"]), rate_hour=round(rng.uniform(0.2, 3), 3))
    e.write(e.cell("Versus", rng.randrange(e.count("Versus")), "rate"), "own rate")
    yield "new rate"


def _renamed_everywhere(e: Edited, rng: random.Random) -> Iterator[str]:
    old = rng.choice(["RTX 5090", "L4", "L40", "RTX PRO 6000 Blackwell Server"])
    for table, column in (("Cards", "gpu"), ("Prices", "gpu"), ("Builds", "gpu"), ("Speed", "gpu"), ("FitCards", "gpu")):
        for r in range(e.count(table)):
            if e.cell(table, r, column).value == old:
                e.write(e.cell(table, r, column), f"{old} (ours)")
    yield f"{old} renamed"


def _renamed_in_one_place(e: Edited, rng: random.Random) -> Iterator[str]:
    table = rng.choice(["Cards", "Prices", "Builds"])
    row = rng.choice(e.rows(table))
    e.write(e.cell(table, row, "gpu"), "No such card")
    yield f"{table}: a card renamed here only"


def _case(e: Edited, rng: random.Random) -> Iterator[str]:
    row = rng.choice(e.rows("Builds"))
    c = e.cell("Builds", row, "gpu")
    e.write(c, str(c.value).swapcase())
    yield f"{c.value}"


def _moved(e: Edited, rng: random.Random) -> Iterator[str]:
    for table in rng.sample(
        ["Prices", "Cards", "Models", "Workloads", "Builds", "Rates", "OpenWeight", "Links", "Engines", "Efficiency", "Benchmarks"], 3
    ):
        a, b = rng.sample(e.rows(table), 2)
        e.swap(table, a, b)
        yield f"{table}: rows {a} and {b} exchanged"


def _far(e: Edited, rng: random.Random) -> Iterator[str]:
    """A row moved to the last blank one: a hole, and blank rows in between."""
    table = rng.choice(["Prices", "Cards", "Rates"])
    row = rng.choice(e.rows(table))
    e.swap(table, row, e.count(table) - 1)
    yield f"{table}: row {row} at the end"


def _removed(e: Edited, rng: random.Random) -> Iterator[str]:
    table = rng.choice(["Prices", "Workloads", "Builds", "Rates", "OpenWeight", "Apis"])
    row = rng.choice(e.rows(table))
    yield f"{table}: {e.contents(table, row)[0]} removed"
    (e.remove if rng.random() < 0.5 else e.clear)(table, row)


def _speed(e: Edited, rng: random.Random) -> Iterator[str]:
    for _ in range(6):
        row = rng.randrange(e.count("Speed"))
        column, value = rng.choice(
            [
                ("batch", rng.choice([1, 7.5, 64, 3000])),
                ("gpus", rng.choice([2, 4])),
                ("kv", "fp8"),
                ("input_tokens", rng.randint(10, 100_000)),
                ("output_tokens", rng.randint(1, 4000)),
                ("gpu", e.cell("Cards", rng.choice(e.rows("Cards")), "gpu").value),
                ("model", e.cell("Models", rng.choice(e.rows("Models")), "model").value),
                ("gpu", None),
            ]
        )
        e.write(e.cell("Speed", row, column), value)
        yield f"Speed row {row} {column} {value}"
    e.write(e.cell("Cost", rng.randrange(e.count("Cost")), "tok_s_measured"), rng.choice([650, 0.5]))
    e.write(e.cell("Scaling", rng.randrange(e.count("Scaling")), "gpu"), e.cell("Cards", rng.choice(e.rows("Cards")), "gpu").value)
    e.write(e.cell("FitMatrix", rng.randrange(e.count("FitMatrix")), "model"), e.cell("Models", rng.choice(e.rows("Models")), "model").value)
    e.write(e.cell("FitCards", rng.randrange(e.count("FitCards")), "gpu"), e.cell("Cards", rng.choice(e.rows("Cards")), "gpu").value)
    e.write(e.cell("Versus", rng.randrange(e.count("Versus")), "rel_wanted"), rng.choice([0.5, None, 2]))
    e.write(e.cell("BaseBurst", 0, "base_cards"), rng.randint(0, 9))


def _market(e: Edited, rng: random.Random) -> Iterator[str]:
    yield from _numbers(e, rng, "Rates", ("rate_hour",), 3)
    yield from _numbers(e, rng, "Apis", ("price_in_mtok", "price_out_mtok"), 2)


def _constants(e: Edited, rng: random.Random) -> Iterator[str]:
    yield from _numbers(e, rng, "Links", ("alpha_pair_us", "alpha_power", "bus_pair_gb_s", "bus_power"), 3)
    yield from _numbers(
        e, rng, "Engines", ("activation_dense_gib", "activation_moe_gib", "layer_us", "layer_moe_us", "sequence_us", "max_sequences"), 3
    )
    yield from _numbers(e, rng, "Precisions", ("bytes_weight", "bytes_embed", "bytes_kv"), 2)
    yield from _numbers(e, rng, "Efficiency", ("weight_efficiency", "kv_efficiency", "dense_compute_efficiency"), 8, 0.5, 1)


KINDS: tuple[Callable[[Edited, random.Random], Iterator[str]], ...] = (
    _prices,
    _price_gone,
    _dollars,
    _free_card,
    _cards,
    _card_without,
    _models,
    _assumptions,
    _speculation,
    _choices,
    _workloads,
    _other_model,
    _builds,
    _new_build,
    _new_workload,
    _new_card,
    _new_rate,
    _renamed_everywhere,
    _renamed_in_one_place,
    _case,
    _moved,
    _far,
    _removed,
    _speed,
    _market,
    _constants,
    _finance,
)


def random_edits(e: Edited, seed: int) -> list[str]:
    """Change a book as people might; the same seed gives the same changes. Every kind comes round within a few seeds."""
    rng = random.Random(seed)
    chosen = [KINDS[(seed * 5 + i) % len(KINDS)] for i in range(5)] + rng.sample(KINDS, 2)
    order = {_new_card: 1, _renamed_everywhere: 2, _renamed_in_one_place: 3, _moved: 4, _removed: 5, _far: 6}  # the latter move rows
    done: list[str] = []
    for kind in sorted(dict.fromkeys(chosen), key=lambda k: order.get(k, 0)):
        done += list(kind(e, rng))
    e.log = done
    return done


def edited_books(templates: dict[str, Path], folder: Path, seeds: range) -> dict[Path, list[str]]:
    """Edited copies of the templates, languages in turn, with what was changed in each."""
    out: dict[Path, list[str]] = {}
    for k, (lang, template) in enumerate(templates.items()):
        mine = [s for s in seeds if s % len(templates) == k]
        if not mine:
            continue
        e = Edited(template)
        for seed in mine:
            changes = list(random_edits(e, seed))
            out[e.save(folder / f"edit{seed:03}-{lang}.xlsx")] = changes
            e.undo()
    return out
