"""What a report says: its three lines, its tables, its charts, for one book or for a book against the last one.

Here: which figures stand where, and which of them are private. Not here: reading (`figures`), files (`workbook`, `mail`).
A private column is dropped here, before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuecon_xl import __version__
from gpuecon_xl.report.figures import Figure, Row, SourceBook
from gpuecon_xl.report.speech import Speech

SAME = 1e-9  # a relative change below it is none
NAMED = 3  # names in a line of the message

_EUR = "EUR"
_CHECKS = ("price_source", "stale", "unverified", "workload_fits")  # codes of the table Checks that the notes repeat


@dataclass(frozen=True)
class Column:
    """A column: key, label, unit, kind of its figures, width in characters."""

    key: str
    label: str
    unit: str = ""
    kind: str = "text"
    width: int = 12
    private: bool = False


@dataclass
class Table:
    """A table with its title."""

    title: str
    columns: list[Column]
    rows: list[list[Figure]]
    note: str = ""

    def at(self, key: str) -> int:
        """Position of a column."""
        return next(i for i, c in enumerate(self.columns) if c.key == key)

    def has(self, key: str) -> bool:
        """Whether a column is there."""
        return any(c.key == key for c in self.columns)

    def public(self) -> Table:
        """The table without its private columns."""
        keep = [i for i, c in enumerate(self.columns) if not c.private]
        return Table(self.title, [self.columns[i] for i in keep], [[row[i] for i in keep] for row in self.rows], self.note)


@dataclass(frozen=True)
class Plot:
    """A chart of a table: ``bar`` or ``line``; categories and series are keys of columns."""

    kind: str
    title: str
    table: Table
    categories: str
    series: tuple[str, ...]
    x_title: str
    y_title: str


@dataclass
class Sheet:
    """A sheet: title, then tables and charts."""

    title: str
    blocks: list[Table | Plot] = field(default_factory=list)


@dataclass
class Report:
    """A report, ready to be written in any form."""

    speech: Speech
    title: str
    dated: str
    as_of: Any
    lines: list[str]
    warning: str
    key: Table
    plot: Plot
    sheets: list[Sheet]
    private: bool
    changed: list[dict[str, Any]]


def make_report(book: SourceBook, last: SourceBook | None, lang: str | None = None, *, private: bool = False, texts: Path | None = None) -> Report:
    """The report of a book.

    Parameters
    ----------
    last : the earlier book that it is compared with.  lang : of the texts, the book's own if None.
    private : purchase prices and what contains nothing else stay in.  texts : a folder with texts of your own.
    """
    return _Maker(book, last, Speech(lang or book.lang, book.lang, texts), private).report()


def _change(now: Figure, before: Figure | None) -> Figure:
    """Relative change, blank when there is nothing to compare."""
    a, b = now.number, before.number if before is not None else None
    return Figure("" if a is None or b is None or b == 0 else _calm(a / b - 1))


def _less(now: Figure, before: Figure) -> Figure:
    a, b = now.number, before.number
    return Figure("" if a is None or b is None else 0.0 if abs(a - b) <= SAME * max(abs(a), abs(b)) else a - b)


def _calm(change: float) -> float:
    return 0.0 if abs(change) < SAME else change


def _price_change(now: Row, before: Row, now_eur: Row, before_eur: Row) -> Figure:
    """Change of a typical price, in its own currency if that is still the same, else in EUR."""
    if now["currency"].value == before["currency"].value:
        return _change(now["typical"], before["typical"])
    return _change(now_eur["price_eur"], before_eur["price_eur"])


class _Maker:
    def __init__(self, book: SourceBook, last: SourceBook | None, speech: Speech, private: bool) -> None:
        self.book, self.last, self.say, self.private = book, last, speech, private
        self.matrix = book.by("Matrix", "workload")
        self.before = last.by("Matrix", "workload") if last else {}
        self.tco, self.tco_before = book.by("TcoCards", "gpu"), last.by("TcoCards", "gpu") if last else {}
        self.load = str(book.assumption("compare_load").value)
        self.at_load = self._at_load(book.rows("Cost"))
        self.old_prices: dict[str, dict[Any, Row]] = {}
        if last is not None:
            with book.prices_of(last) as tried:
                self.old_prices = {"matrix": tried.by("Matrix", "workload"), "tco": tried.by("TcoCards", "gpu")}
                self.old_prices["load"] = self._at_load(tried.rows("Cost"))
        self.moved, self.new, self.gone = self._prices()

    def _at_load(self, rows: Iterable[Row]) -> dict[Any, Row]:
        """Rows of Cost for the load that cards are compared at, by card."""
        out: dict[Any, Row] = {}
        for r in rows:
            if f"{r['model'].value}/{r['precision'].value}/{r['batch'].value}" == self.load and r["gpus"].value == 1:
                out.setdefault((r["gpu"].value,), r)
        return out

    # ---- prices ----

    def _prices(self) -> tuple[list[list[Figure]], list[str], list[str]]:
        """Rows of changed prices, largest first; names of cards that came and went."""
        if self.last is None:
            return [], [], []
        now, before = self.book.by("Prices", "gpu"), self.last.by("Prices", "gpu")
        rows = []
        for gpu, row in now.items():
            if gpu not in before or gpu not in self.tco or gpu not in self.tco_before:
                continue
            change = _price_change(row, before[gpu], self.tco[gpu], self.tco_before[gpu])
            if not change.number:
                continue
            cost = self.at_load.get(gpu, {}).get("cost_eur_mtok", Figure(""))
            old = self.old_prices["load"].get(gpu, {}).get("cost_eur_mtok", Figure(""))
            effect = _change(self.tco[gpu]["tco_eur"], self.old_prices["tco"][gpu]["tco_eur"])
            rows.append([row["gpu"], change, effect, _number(old), _number(cost), before[gpu]["typical"], row["typical"], row["currency"]])
        rows.sort(key=lambda r: -abs(r[1].number or 0))
        priced, priced_before = self._priced(now), self._priced(before)
        return rows, [g for g in priced if g not in priced_before], [g for g in priced_before if g not in priced]

    @staticmethod
    def _priced(rows: dict[Any, Row]) -> list[str]:
        return [str(g[0]) for g, r in rows.items() if r["typical"].number is not None and r["source"].value != ""]

    def prices_sheet(self) -> Sheet | None:
        say = self.say
        sheet = Sheet(say.texts("sheet.prices"))
        if self.last is not None:
            columns = [
                self.column("gpu", width=26), Column("change", say("price_change"), kind="change"),
                Column("effect", say("effect_cost"), kind="change"),
                Column("cost_before", say("cost_old_price"), _EUR, "rate"),
                Column("cost_now", say("cost_now"), _EUR, "rate"),
                Column("price_before", say("price_last"), self.unit("per card, net"), "money", private=True),
                Column("price_now", say("price_now"), self.unit("per card, net"), "money", private=True),
                self.column("currency", private=True, width=9),
            ]  # fmt: skip
            parts = [say("note_prices", load=self.load.replace("/", " · "))]
            parts += [say("none_changed")] if not self.moved else []
            parts += [say("new_cards", list=", ".join(self.new))] if self.new else []
            parts += [say("gone_cards", list=", ".join(self.gone))] if self.gone else []
            sheet.blocks.append(self.shown(Table(say("changed_prices"), columns, self.moved, " ".join(parts))))
        if self.private:
            columns = [self.column("gpu", width=26), *(self.column(k, "money", "per card, net", 11) for k in ("low", "typical", "high")),
                       self.column("currency", width=9)]  # fmt: skip
            rows = [[r[k] for k in ("gpu", "low", "typical", "high", "currency")] for r in self.book.by("Prices", "gpu").values()]
            sheet.blocks.append(Table(say.texts("table.prices"), columns, rows))
        return sheet if sheet.blocks else None

    # ---- recommendation ----

    def key_table(self) -> Table:
        """Workload, build, cost, change: the table of the message."""
        say = self.say
        columns = [
            self.column("workload", width=26),
            self.column("recommended", width=22),
            self.rate("cost_eur_mtok", 13),
        ]
        rows = [[r["workload"], r["recommended"], r["cost_eur_mtok"]] for r in self.matrix.values()]
        if self.last is not None:
            columns.append(Column("change", say("change"), say("against_last"), "change", 11))
            for row, key in zip(rows, self.matrix, strict=True):
                row.append(_change(row[2], self.before.get(key, {}).get("cost_eur_mtok")))
        return self.shown(Table(say.texts("table.matrix"), columns, rows, f"{say('per_mtok')} {say('note_key')}"))

    def matrix_sheet(self) -> Sheet:
        say = self.say
        keys = ("workload", "recommended", "cost_eur_mtok", "runner_up", "runner_up_more")
        columns = [self.column("workload", width=26), self.column("recommended", width=22), self.rate("cost_eur_mtok", 13),
                   self.column("runner_up", width=22), self.column("runner_up_more", kind="pct", width=11),
                   self.column("outlay_eur", kind="money", unit=_EUR, private=True)]  # fmt: skip
        rows = [[r[k] for k in (*keys, "outlay_eur")] for r in self.matrix.values()]
        sheet = Sheet(say.texts("sheet.matrix"), [self.shown(Table(say.texts("table.matrix"), columns, rows, say("per_mtok")))])
        if self.last is None:
            return sheet
        columns = [self.column("workload", width=26), *(Column(k, say(k), _EUR, kind, 12) for k, kind in
                   (("cost_last", "rate"), ("by_rest", "signed"), ("by_prices", "signed"), ("cost_now", "rate")))]  # fmt: skip
        bridge = [[r["workload"], *self._bridge(key)] for key, r in self.matrix.items() if key in self.before]
        sheet.blocks.append(Table(say("bridge"), columns, bridge, f"{say('per_mtok')} {say('note_bridge')}"))
        picks = [[r["workload"], r["recommended"], self.before[k]["recommended"]] for k, r in self._new_picks()]
        if picks:
            columns = [self.column("workload", width=26), Column("now", say("pick_now"), width=22), Column("was", say("pick_last"), width=13)]
            sheet.blocks.insert(0, self.shown(Table(say("new_picks"), columns, picks)))
        return sheet

    def _bridge(self, key: Any) -> list[Figure]:
        """Last cost, effect of everything but prices, effect of prices, cost now."""
        last, tried, now = (rows[key]["cost_eur_mtok"] for rows in (self.before, self.old_prices["matrix"], self.matrix))
        return [_number(last), _less(tried, last), _less(now, tried), _number(now)]

    def _new_picks(self) -> list[tuple[Any, Row]]:
        def pick(rows: dict[Any, Row], key: Any) -> str:
            return str(rows[key]["recommended"].value) if rows[key]["cost_eur_mtok"].number is not None else ""

        return [(k, r) for k, r in self.matrix.items() if k in self.before and pick(self.matrix, k) != pick(self.before, k)]

    # ---- cost ----

    def tco_sheet(self) -> Sheet:
        say = self.say
        columns = [self.column("gpu", width=30), self.money("tco_eur"), self.column("electricity_share", kind="pct", width=13),
                   *(self.money(k, private=True) for k in ("price_eur", "capex_eur", "tco_low_eur", "tco_high_eur"))]  # fmt: skip
        rows = [[r[c.key] for c in columns] for r in self.tco.values() if r["tco_eur"].number is not None]
        if self.last is not None:
            columns.insert(2, Column("change", say("change"), say("against_last"), "change", 11))
            for row in rows:
                row.insert(2, _change(row[1], self.tco_before.get((row[0].value,), {}).get("tco_eur")))
        left_out = len(self.tco) - len(rows)
        note = say("note_tco") + (" " + say("left_out", count=str(left_out)) if left_out else "")
        cards = self.shown(Table(say.texts("table.tco_cards"), columns, rows, note))
        plot = Plot("bar", say.texts("chart.tco").split(",")[0], cards, "gpu", ("tco_eur",), say.texts("axis.gpu"), say.texts("axis.eur"))
        columns = [self.column("build", width=30), self.money("build_tco_eur"), self.column("power_w", kind="whole", unit="W", width=11),
                   self.money("outlay_eur", private=True)]  # fmt: skip
        fleet = [[r[c.key] for c in columns] for r in self.book.by("Fleet", "build").values() if r["build_tco_eur"].number is not None]
        builds = self.shown(Table(say("builds"), columns, fleet, say("note_builds")))
        return Sheet(say.texts("sheet.tco"), [cards, plot, builds])

    def cost_sheet(self) -> Sheet:
        say = self.say
        loads: dict[tuple[Any, ...], list[Row]] = {}
        for r in self.book.rows("Cost"):
            if r["gpu"].value != "":
                loads.setdefault(tuple(r[k].value for k in ("model", "precision", "batch", "gpus")), []).append(r)
        before = self.last.by("Cost", "gpu", "model", "precision", "batch", "gpus") if self.last else {}
        sheet = Sheet(say.texts("sheet.cost"))
        for load, rows in loads.items():
            columns = [self.column("gpu", width=30), *(self.rate(k) for k in
                       ("cost_eur_mtok", "cost_low_eur_mtok", "cost_high_eur_mtok"))]  # fmt: skip
            body = [[r["gpu"], r["cost_eur_mtok"], _number(r["cost_low_eur_mtok"]), _number(r["cost_high_eur_mtok"])] for r in rows]
            if self.last is not None:
                columns.append(Column("change", say("change"), say("against_last"), "change", 11))
                for line, r in zip(body, rows, strict=True):
                    line.append(_change(r["cost_eur_mtok"], before.get((r["gpu"].value, *load), {}).get("cost_eur_mtok")))
            model, precision, batch, cards = load
            title = say("load", model=str(model), precision=str(precision), batch=str(batch), cards=str(cards))
            table = self.shown(Table(title, columns, body, "" if sheet.blocks else f"{say('per_mtok')} {say('note_cost')}"))
            sheet.blocks.append(table)
            if f"{model}/{precision}/{batch}" == self.load and len(body) > 1:
                sheet.blocks.append(Plot("bar", title, table, "gpu", ("cost_eur_mtok",), say.texts("axis.gpu"), say.texts("axis.eur_mtok")))
        return sheet

    def breakeven_sheet(self) -> Sheet:
        say = self.say
        columns = [self.column("gpu", width=24), self.column("rate", width=24), self.column("rate_hour", "rate", "EUR per GPU-hour", 11),
                   self.column("breakeven_use", kind="pct", width=12), self.column("answer", width=11)]  # fmt: skip
        pairs = [[r[c.key] for c in columns] for r in self.book.rows("Versus") if r["gpu"].value != ""]
        versus = self.shown(Table(say.texts("table.versus"), columns, pairs, say("note_versus", use=self._use())))
        lines = ("own_eur_mtok", "rent_eur_mtok", "reserved_eur_mtok", "api_eur_mtok")
        columns = [self.column("use", kind="pct", width=24), *(self.rate(k) for k in lines)]
        look = say("note_curve", build=str(self.book.assumption("look_at_build").value), workload=str(self.book.assumption("look_at_workload").value))
        curve = self.shown(
            Table(say.texts("table.curve"), columns, [[r[c.key] for c in columns] for r in self.book.rows("CostCurve")], f"{say('per_mtok')} {look}")
        )
        plot = Plot("line", say.texts("table.curve"), curve, "use", lines, say.texts("axis.use"), say.texts("axis.eur_mtok"))
        return Sheet(say.texts("sheet.breakeven"), [versus, curve, plot])

    def notes_sheet(self) -> Sheet:
        say = self.say
        checks = self.book.by("Checks", "code")
        rows = [[Figure(say.texts("table.master")), self.book.rows("MasterCheck")[0]["figure"]]]
        rows += [[Figure(say.texts(f"check.{c}")), checks[(c,)]["figure"]] for c in _CHECKS if (c,) in checks]
        columns = [Column("check", say.texts("label.check"), width=56), Column("figure", say.texts("label.figure"), kind="whole", width=12)]
        said = [
            say("note_values"),
            say("note_tokens"),
            say("note_net"),
            say("note_private" if self.private else "note_public"),
            f"gpuecon_xl {__version__}",
        ]
        told = Table(say("sheet_notes"), [Column("note", "", width=56)], [[Figure(x)] for x in said])
        return Sheet(say("sheet_notes"), [told, Table(say.texts("table.checks"), columns, rows)])

    # ---- the three lines ----

    def lines(self) -> list[str]:
        """Prices, cost, buy or rent: one line each."""
        return [self._line_prices(), self._line_cost(), self._line_breakeven()]

    def _line_prices(self) -> str:
        say = self.say
        count = str(len(self._priced(self.book.by("Prices", "gpu"))))
        if self.last is None:
            return say("line_prices_first", count=count)
        named = ", ".join(f"{r[0].value} {say.number(r[1].number or 0, 'change')}" for r in self.moved[:NAMED])
        more = len(self.moved) - NAMED
        named += " " + say("and_more", count=str(more)) if more > 0 else ""
        line = say("line_prices", count=count, changed=str(len(self.moved)), list=named) if self.moved else say("line_prices_same", count=count)
        return line + "".join(
            f" {say(k, list=', '.join(cards[:NAMED]))}" for k, cards in (("new_cards", self.new), ("gone_cards", self.gone)) if cards
        )

    def _line_cost(self) -> str:
        say = self.say
        costs = sorted(((r["cost_eur_mtok"].number, str(r["workload"].value)) for r in self.matrix.values() if r["cost_eur_mtok"].number is not None),
                       key=lambda c: c[0] or 0)  # fmt: skip
        if not costs:
            return say("line_cost_none")
        (low, cheap), (high, dear) = costs[0], costs[-1]
        span = dict(low=say.number(low or 0, "rate"), high=say.number(high or 0, "rate"), low_workload=cheap, high_workload=dear)
        if self.last is None:
            return say("line_cost_first", **span)
        picks = [str(r["workload"].value) for _, r in self._new_picks()]
        found = ", ".join(picks[:NAMED]) + (" " + say("and_more", count=str(len(picks) - NAMED)) if len(picks) > NAMED else "")
        tail = " " + say("line_picks", list=found) if picks else ""
        moves = [
            (abs(c), k)
            for k, r in self.matrix.items()
            if k in self.before and (c := _change(r["cost_eur_mtok"], self.before[k]["cost_eur_mtok"]).number)
        ]
        if not moves:
            return say("line_cost_same", **span) + tail
        key = max(moves, key=lambda m: m[0])[1]
        last, _, by_prices, now = self._bridge(key)
        told = dict(workload=str(key[0]), before=say.number(last.number or 0, "rate"), now=say.number(now.number or 0, "rate"),
                    change=say.number(_change(now, last).number or 0, "change"),
                    by_prices=say.number(by_prices.number, "signed") if by_prices.number is not None else "?")  # fmt: skip
        return say("line_cost", **told) + tail

    def _line_breakeven(self) -> str:
        say = self.say
        pair = next((r for r in self.book.rows("Versus") if r["gpu"].value != ""), None)
        if pair is None or str(pair["answer"].value).startswith("#") or str(pair["breakeven_use"].value).startswith("#"):
            return say("line_breakeven_none")
        told = dict(gpu=str(pair["gpu"].value), rate=str(pair["rate"].value), answer=str(say.value(pair["answer"].value)), use=self._use())
        if pair["breakeven_use"].number is None:
            return say("line_breakeven_never", verdict=str(say.value(pair["breakeven_use"].value)), **told)
        return say("line_breakeven", breakeven=say.number(pair["breakeven_use"].number, "pct"), **told)

    def _use(self) -> str:
        return self.say.shown(self.book.assumption("utilization").value, "pct")

    # ---- all of it ----

    def report(self) -> Report:
        say = self.say
        as_of = self.book.assumption("as_of").value
        dated = say("as_of", date=say.date(as_of))
        if self.last is not None:
            dated = say("as_of_last", date=say.date(as_of), last=say.date(self.last.assumption("as_of").value))
        key = self.key_table()
        plot = Plot("bar", say.texts("chart.matrix"), key, "workload", ("cost_eur_mtok",), say.texts("axis.workload"), say.texts("axis.eur_mtok"))
        sheets = [Sheet(say("sheet_summary"), [key, plot]), self.prices_sheet(), self.matrix_sheet(), self.tco_sheet(), self.cost_sheet(),
                  self.breakeven_sheet(), self.notes_sheet()]  # fmt: skip
        changed = [{"gpu": r[0].value, "change": r[1].value, "cost_change": r[2].value} for r in self.moved]
        warning = say("note_private") if self.private else ""
        return Report(say, say("title"), dated, as_of, self.lines(), warning, key, plot, [s for s in sheets if s is not None], self.private, changed)

    def column(self, key: str, kind: str = "text", unit: str = "", width: int = 12, private: bool = False) -> Column:
        """A column with the label and unit of the workbook."""
        return Column(key, self.say.texts(f"label.{key}"), self.unit(unit), kind, width, private)

    def money(self, key: str, *, private: bool = False) -> Column:
        """A column of amounts in EUR."""
        return self.column(key, "money", _EUR, 11, private)

    def rate(self, key: str, width: int = 12) -> Column:
        """A column of cost per million output tokens."""
        return self.column(key, "rate", _EUR, width)

    def unit(self, unit: str) -> str:
        """A unit as people of the language write it."""
        found = self.say.texts.get(f"unit.{unit}") if unit else ""
        return unit if found is None else found

    def shown(self, table: Table) -> Table:
        """The table with words in the report's language, and without private columns unless they are asked for."""
        table.rows = [[Figure(self.say.value(f.value), f.cell) for f in row] for row in table.rows]
        return table if self.private else table.public()


def _number(figure: Figure) -> Figure:
    """The figure if it is a number, else blank."""
    return figure if figure.number is not None else Figure("", figure.cell)


def all_tables(report: Report) -> Sequence[Table]:
    """Every table of a report."""
    return [b for s in report.sheets for b in s.blocks if isinstance(b, Table)]
