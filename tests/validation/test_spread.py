"""Figures of errors against counts by hand and a plain second way."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from measurement_files import own_file

from gpuecon_xl.errors import NameNotFound
from gpuecon_xl.validation import Compared, figures, read_measurements, table_by
from gpuecon_xl.validation.spread import dimensions_of, quantile


@pytest.fixture
def template(tmp_path: Path) -> Compared:
    (m,) = read_measurements(own_file(tmp_path / "a.csv", {"value": "100"})).rows
    return Compared(m, 100.0, 80.0, 120.0, "", {"class": "sxm", "batch": "16-64"})


def made(template: Compared, predicted: float | None, source: str = "a", **classes: str) -> Compared:
    return replace(template, measurement=replace(template.measurement, source=source), predicted=predicted,
                   refusal="" if predicted else "no", classes=template.classes | classes)  # fmt: skip


def test_by_hand(template: Compared) -> None:
    rows = [made(template, p) for p in (90, 95, 100, 120, 300)] + [made(template, 150, "b")] + [made(template, None, "c")]
    got = figures(rows)
    assert (got.rows, got.groups, got.predicted) == (7, 3, 6)
    assert got.by_row is not None
    assert got.by_group is not None
    assert got.by_row.median == pytest.approx(0.1)  # of 0, 0.05, 0.1, 0.2, 0.5, 2
    assert got.by_row.mean == pytest.approx(2.85 / 6)
    assert got.by_row.p90 == pytest.approx(2)
    assert got.by_row.bias == pytest.approx(0)  # of -0.1, -0.05, 0, 0.2, 0.5, 2
    assert got.by_group.median == pytest.approx(0.5)  # group b weighs as much as the five of a
    assert got.by_group.mean == pytest.approx((2.35 / 5 + 0.5) / 2)


def test_share_within_the_band(template: Compared) -> None:
    inside, outside = made(template, 100), replace(made(template, 100, "b"), low=101.0)
    got = figures([inside, inside, inside, outside])
    assert got.by_row is not None
    assert got.by_group is not None
    assert got.by_row.in_band == 0.75
    assert got.by_group.in_band == 0.5


def test_nothing_predicted(template: Compared) -> None:
    got = figures([made(template, None)])
    assert (got.rows, got.predicted, got.by_row, got.by_group) == (1, 0, None, None)


def test_quantile_is_that_of_rows_repeated() -> None:
    rnd = random.Random(5)
    for _ in range(200):
        values = [rnd.uniform(-1, 3) for _ in range(rnd.randint(1, 12))]
        times = [rnd.randint(1, 5) for _ in values]
        repeated = sorted(v for v, n in zip(values, times, strict=True) for _ in range(n))
        for share in (0.1, 0.5, 0.9):
            at = next(i for i in range(len(repeated)) if (i + 1) >= share * len(repeated) - 1e-9)
            assert quantile(values, [float(n) for n in times], share) == repeated[at]


def test_tables(template: Compared) -> None:
    rows = [made(template, 100, batch=b) for b in ("max", "65+", "2-15", "1", "16-64", "1")] + [made(template, 100, **{"class": "amd"})]
    assert [k for (k,) in table_by(rows, ("batch",))] == ["1", "2-15", "16-64", "65+", "max"]
    pairs = table_by(rows, ("class", "batch"))
    assert pairs["sxm", "1"].rows == 2
    assert pairs["amd", "16-64"].rows == 1
    assert sum(f.rows for f in pairs.values()) == len(rows)


def test_dimensions() -> None:
    assert dimensions_of("class, Batch,class") == [("class",), ("batch",)]
    assert dimensions_of("class+batch,moe") == [("class", "batch"), ("moe",)]
    for wrong in ("", "clas", "class+", "class;batch"):
        with pytest.raises(NameNotFound, match="does not exist; one of class, batch"):
            dimensions_of(wrong)
