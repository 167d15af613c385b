"""The catalogue: what it holds, how names are found, how broken and edited folders are judged."""

from __future__ import annotations

import csv
import datetime as dt
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gpuecon_xl as gx
from gpuecon_xl.catalog import shipped_folder
from gpuecon_xl.schema import TABLES, Table

CATALOG = gx.load_catalog()
SOURCED = [t for t in TABLES.values() if "source" in t.by_name]

# ------------------------------------------------------------------------------------------------ what is shipped


def test_every_table_is_shipped_and_has_rows() -> None:
    assert {p.stem for p in shipped_folder().glob("*.csv")} == set(TABLES)
    for name in TABLES:
        assert CATALOG.rows(name), name


def test_loaded_once() -> None:
    assert gx.load_catalog() is CATALOG


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_columns_of_the_file_are_those_of_the_schema(table: Table) -> None:
    with (shipped_folder() / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    assert header == [f.name for f in table.fields]


@pytest.mark.parametrize("table", SOURCED, ids=lambda t: t.name)
def test_every_row_has_source_date_and_confidence(table: Table) -> None:
    """No source, no figure."""
    for row in CATALOG.rows(table.name):
        name = row[table.key]
        assert row["source"], name
        assert isinstance(row["as_of"], dt.date), name
        assert dt.date(2016, 1, 1) <= row["as_of"] <= dt.date(2027, 12, 31), name
        assert row["confidence"] in ("measured", "datasheet", "stated", "unverified"), name


def test_every_table_has_sources() -> None:
    assert {t.name for t in SOURCED} == set(TABLES)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_bounds(table: Table) -> None:
    for row in CATALOG.rows(table.name):
        for f in table.fields:
            value = row[f.name]
            if value is None:
                assert not f.required, (row[table.key], f.name)
                continue
            if f.numeric:
                assert isinstance(value, float), (row[table.key], f.name)
                assert f.low is None or value >= f.low, (row[table.key], f.name)
                assert f.high is None or value <= f.high, (row[table.key], f.name)
                assert value > 0 or not f.positive, (row[table.key], f.name)
                assert value == int(value) or f.kind != "count", (row[table.key], f.name)
            if f.kind in ("flag", "choice"):
                assert value in f.choices, (row[table.key], f.name)


def test_low_typical_high() -> None:
    for row in CATALOG.rows("prices"):
        known = [row[c] for c in ("low", "typical", "high") if row[c] is not None]
        assert known == sorted(known), row["gpu"]
        assert all(v > 0 for v in known), row["gpu"]
        assert row["currency"] in ("EUR", "USD")
    for row in CATALOG.rows("assumptions"):
        if isinstance(row["value"], float) and row["low"] and row["high"]:
            assert row["low"] <= row["value"] <= row["high"], row["name"]
    for row in CATALOG.rows("efficiency"):
        assert row["band_low"] <= 1 <= row["band_high"], row["efficiency_key"]


def test_cards_are_plausible() -> None:
    """Dense rates, not the sparse figure that vendors print; units in the order of magnitude of the field."""
    for row in CATALOG.rows("gpus"):
        name = row["gpu"]
        assert 4 <= row["memory_gb"] <= 300, name
        # GB on the box are GiB or 1e9 bytes; the driver shows at most a little less
        gib = row["memory_usable_mib"] / 1024
        assert 0.88 * row["memory_gb"] <= gib <= 1.03 * row["memory_gb"], name
        assert 50 <= row["bandwidth_gb_s"] <= 9000, name
        assert 1 <= row["tflops_16"] <= 2600, name
        assert 20 <= row["tdp_w"] <= 1500, name
        for other in ("tflops_fp8", "tops_int8"):
            assert row[other] == 0 or row[other] <= 4.2 * row["tflops_16"], (name, other)
        assert row["tflops_fp4"] == 0 or row["tflops_fp4"] <= 9 * row["tflops_16"], name


@pytest.mark.parametrize(
    ("gpu", "facts"),
    [
        # vendors' datasheets, dense
        ("RTX PRO 6000 Blackwell Server", {"memory_usable_mib": 97_887, "bandwidth_gb_s": 1792, "tflops_fp8": 936, "tdp_w": 600}),
        ("RTX PRO 6000 Blackwell Workstation", {"tflops_fp8": 1008, "tdp_w": 600}),
        ("L40S", {"memory_usable_mib": 46_068, "bandwidth_gb_s": 864, "tflops_16": 362, "tflops_fp8": 733, "tdp_w": 350}),
        ("L40", {"bandwidth_gb_s": 864, "tflops_16": 181, "tflops_fp8": 362, "tdp_w": 300}),
        ("L4", {"memory_gb": 24, "bandwidth_gb_s": 300, "tflops_16": 121, "tflops_fp8": 242, "tdp_w": 72}),
        ("RTX 5090", {"memory_gb": 32, "bandwidth_gb_s": 1792, "tflops_16": 210, "tflops_fp8": 419, "tflops_fp4": 1676, "tdp_w": 575}),
        ("RTX 4090", {"memory_gb": 24, "bandwidth_gb_s": 1008, "tflops_16": 165, "tflops_fp8": 330, "tdp_w": 450}),
        ("A100 PCIe 80GB", {"memory_gb": 80, "bandwidth_gb_s": 1935, "tflops_16": 312, "tflops_fp8": 0, "tdp_w": 300}),
        ("H100 PCIe", {"bandwidth_gb_s": 2000, "tflops_16": 756, "tflops_fp8": 1513, "tdp_w": 350}),
        ("H100 SXM", {"memory_gb": 80, "bandwidth_gb_s": 3350, "tflops_16": 989, "tflops_fp8": 1979, "tdp_w": 700}),
        ("H200", {"memory_gb": 141, "bandwidth_gb_s": 4800, "tflops_16": 989, "tflops_fp8": 1979, "tdp_w": 700}),
        ("B200", {"tflops_16": 2250, "tflops_fp8": 4500, "tflops_fp4": 9000, "tdp_w": 1000}),
    ],
)
def test_datasheets(gpu: str, facts: dict[str, float]) -> None:
    row = CATALOG.find("gpus", gpu)
    assert {k: row[k] for k in facts} == pytest.approx(facts, rel=0.02)


def test_models_are_plausible() -> None:
    for row in CATALOG.rows("models"):
        name = row["model"]
        assert 0 < row["active_b"] <= row["params_b"] < 3000, name
        assert (row["experts"] > 0) == (row["experts_active"] > 0) == (row["expert_ffn"] > 0) == (row["layers_moe"] > 0), name
        assert row["layers_full"] + row["layers_window"] + row["layers_linear"] <= row["layers"], name
        assert row["layers_full"] + row["layers_window"] + row["layers_linear"] > 0, name
        assert (row["layers_window"] > 0) <= (row["window"] > 0 and row["window_kv_heads"] > 0), name
        assert row["kv_lora_rank"] > 0 or row["rope_dim"] == 0, name  # latent attention without rotary part exists
        assert row["layers_full"] == 0 or row["kv_lora_rank"] > 0 or row["kv_heads"] * row["head_dim"] > 0, name
        assert row["layers_linear"] == 0 or row["state_mib"] > 0, name
        assert row["max_context"] >= 512, name


REFERENCES: list[tuple[str, str, str]] = [
    ("prices", "gpu", "gpus"),
    ("gpus", "link", "links"),
    ("models", "precision", "precisions"),
    ("cloud_rates", "gpu", "gpus"),
    ("open_weight", "api", "api_prices"),
    ("open_weight", "model", "models"),
    ("workloads", "model", "models"),
    ("workloads", "precision", "precisions"),
    ("workloads", "kv", "precisions"),
    ("workloads", "stated_pick", "builds"),
    ("builds", "gpu", "gpus"),
    ("benchmarks", "gpu", "gpus"),
    ("benchmarks", "precision", "precisions"),
]


@pytest.mark.parametrize(("table", "column", "target"), REFERENCES)
def test_names_point_to_rows(table: str, column: str, target: str) -> None:
    for row in CATALOG.rows(table):
        if row[column]:
            found = CATALOG.find(target, row[column])
            # look-ups in the workbook know no aliases
            assert found[TABLES[target].key] == row[column], (table, row[TABLES[table].key])


def test_every_card_has_the_efficiencies_that_it_needs() -> None:
    from gpuecon_xl.equations.memory import kernel_used

    for gpu in CATALOG.rows("gpus"):
        for precision in CATALOG.rows("precisions"):
            kernel = kernel_used(precision["kernel"], gpu["tflops_fp8"], gpu["tops_int8"], gpu["tflops_fp4"])
            assert CATALOG.find("efficiency", f"{gpu['efficiency_class']} {kernel}")


def test_cards_no_longer_sold_have_no_price_and_cards_for_sale_name_one_row() -> None:
    sold = {r["gpu"]: r["for_sale"] for r in CATALOG.rows("gpus")}
    for row in CATALOG.rows("prices"):
        assert sold[row["gpu"]] == "yes", row["gpu"]


# ------------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("alias", "gpu"),
    [
        ("rtx 5090", "RTX 5090"),
        ("RTX5090", "RTX 5090"),
        ("rtx-5090", "RTX 5090"),
        ("  RTX   5090 ", "RTX 5090"),
        ("NVIDIA GeForce RTX 5090", "RTX 5090"),
        ("GeForce RTX 5090 32GB", "RTX 5090"),
        ("l4", "L4"),
        ("NVIDIA L4", "L4"),
        ("Tesla L4", "L4"),
        ("NVIDIA L40S", "L40S"),
        ("h100 sxm", "H100 SXM"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("H200", "H200 SXM"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell Server"),
        ("RTX PRO 6000 Server", "RTX PRO 6000 Blackwell Server"),
        ("RTX PRO 6000 Max-Q", "RTX PRO 6000 Blackwell Max-Q"),
        ("rtx pro 6000", "RTX PRO 6000 Blackwell Workstation"),
        ("MI300X", "MI300X"),
        ("AMD Instinct MI300X", "MI300X"),
    ],
)
def test_names_of_cards(alias: str, gpu: str) -> None:
    assert CATALOG.find("gpus", alias)["gpu"] == gpu


@pytest.mark.parametrize(
    ("alias", "model", "precision"),
    [
        ("llama 3.1 8b", "Llama 3.1 8B", None),
        ("Llama-3.1-8B", "Llama 3.1 8B", None),
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama 3.1 8B", None),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "Llama 3.1 8B", None),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8", "Llama 3.1 8B", "fp8"),
        ("neuralmagic/Meta-Llama-3.1-8B-Instruct-FP8-dynamic", "Llama 3.1 8B", "fp8"),
        ("nvidia/Llama-3.1-8B-Instruct-NVFP4", "Llama 3.1 8B", "nvfp4"),
        ("hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4", "Llama 3.1 8B", "int4-awq"),
        ("nvidia/Llama-3.3-70B-Instruct-FP8", "Llama 3.3 70B", "fp8"),
        ("casperhansen/llama-3.3-70b-instruct-awq", "Llama 3.3 70B", "int4-awq"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "Llama 3.1 8B", "int4-gptq"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "Llama 3.1 8B", "int8"),
        ("Qwen/Qwen3-32B", "Qwen3-32B", None),
        ("Qwen/Qwen3-32B-FP8", "Qwen3-32B", "fp8"),
        ("Qwen/Qwen3-32B-AWQ", "Qwen3-32B", "int4-awq"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507-FP8", "Qwen3-30B-A3B", "fp8"),
        ("qwen3 32b", "Qwen3-32B", None),
        ("openai/gpt-oss-120b", "gpt-oss-120b", None),
        ("GPT-OSS 120B", "gpt-oss-120b", None),
        # "4b-it" is no "4bit"
        ("google/gemma-3-4b-it", "Gemma 3 4B", None),
        ("unsloth/gemma-3-4b-it", "Gemma 3 4B", None),
        ("google/gemma-3n-E4B-it", "Gemma 3n E4B", None),
        ("Ministral 3 8B it", "Ministral 3 8B", None),
        ("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "Llama 3.1 8B", "int4-awq"),
        ("nvidia/DeepSeek-R1-NVFP4", "DeepSeek R1", "nvfp4"),
    ],
)
def test_names_of_models(alias: str, model: str, precision: str | None) -> None:
    row, told = CATALOG.find_model(alias)
    assert row["model"] == model or (model == "DeepSeek R1" and row["model"].startswith("DeepSeek"))
    assert told == precision
    if precision:
        assert CATALOG.find("precisions", precision)


def _told_by_name() -> list[tuple[str, str, str]]:
    """Aliases of the catalogue that end in a number format, with their model and that format."""
    formats = {"fp8": "fp8", "nvfp4": "nvfp4", "awq": "int4-awq", "mxfp4": "mxfp4"}
    out = []
    for row in CATALOG.rows("models"):
        for alias in [row["hf_id"] or "", *(row["aliases"] or "").split("|")]:
            found = re.search(r"[-_ ](fp8|nvfp4|mxfp4|awq)$", alias.strip(), re.IGNORECASE)
            if found:
                out.append((alias.strip(), row["model"], formats[found[1].lower()]))
    return out


@pytest.mark.parametrize(("alias", "model", "precision"), _told_by_name())
def test_format_in_an_alias_counts(alias: str, model: str, precision: str) -> None:
    """A name that ends in -FP8 means that checkpoint, listed as an alias or not: not the 16-bit one of the same model."""
    row, told = CATALOG.find_model(alias)
    assert row["model"] == model
    assert (told or row["precision"]) == precision


@pytest.mark.parametrize(
    ("alias", "precision"), [("FP8", "fp8"), ("bfloat16", "bf16"), ("float16", "fp16"), ("half", "fp16"), ("nvfp4", "nvfp4"), ("AWQ", "int4-awq")]
)
def test_names_of_precisions(alias: str, precision: str) -> None:
    assert CATALOG.find("precisions", alias)["precision"] == precision


@pytest.mark.parametrize("table", ["gpus", "models", "precisions"])
def test_every_name_and_alias_finds_its_row(table: str) -> None:
    key = TABLES[table].key
    owners: dict[str, str] = {}
    clashes = []
    for row in CATALOG.rows(table):
        for alias in [row[key], *(a.strip() for a in (row["aliases"] or "").split("|") if a.strip())]:
            owner = owners.setdefault(re.sub(r"[^a-z0-9.+]", "", alias.lower()), row[key])
            if owner != row[key]:
                clashes.append(f"{alias!r} is both {owner} and {row[key]}")
        assert CATALOG.find(table, row[key]) is row
    assert not clashes


@pytest.mark.parametrize(
    ("table", "name", "near"),
    [("gpus", "RTX 5091", "RTX 5090"), ("gpus", "L400S", "L40S"), ("models", "Llama 3.1 80B", "Llama 3.1 8B"), ("precisions", "fp88", "fp8")],
)
def test_unknown_names_tell_the_nearest(table: str, name: str, near: str) -> None:
    with pytest.raises(gx.NameNotFound, match="not in the catalogue; nearest: ") as caught:
        CATALOG.find(table, name)
    assert near in str(caught.value)
    assert repr(name) in str(caught.value)


def test_long_names_are_cut_in_messages() -> None:
    with pytest.raises(gx.NameNotFound) as caught:
        CATALOG.find("gpus", "x" * 5000)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["", "   ", None, 5090, ["L4"]])
def test_no_name(name: Any) -> None:
    with pytest.raises(gx.NameNotFound, match="a name is due"):
        CATALOG.find("gpus", name)


def test_assumptions() -> None:
    want = {
        "utilization": 0.60,
        "electricity_eur_kwh": 0.20,
        "pue": 1.4,
        "chassis_eur_gpu": 1000,
        "maintenance_share_year": 0.05,
        "horizon_years": 3,
        "colo_eur_year": 0,
        "output_share": 0.30,
    }
    assert {k: CATALOG.assumption(k) for k in want} == want
    assert CATALOG.assumption("usd_per_eur") > 0
    with pytest.raises(gx.NameNotFound, match=r"nearest: .*utilization"):
        CATALOG.assumption("utilisation")


def test_frame() -> None:
    frame = CATALOG.frame("prices")
    assert list(frame.columns) == [f.name for f in TABLES["prices"].fields]
    assert len(frame) == len(CATALOG.rows("prices"))
    assert CATALOG.frame("Prices").equals(frame)
    assert CATALOG.frame("Cards").equals(CATALOG.frame("gpus"))
    with pytest.raises(gx.NameNotFound, match="prices"):
        CATALOG.frame("price")


# ------------------------------------------------------------------------------------------------ edited folders


def _edit(path: Path, change: Callable[[list[dict[str, str]]], None]) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows, header = list(reader), list(reader.fieldnames or [])
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped catalogue."""
    return Path(shutil.copytree(shipped_folder(), tmp_path / "catalog"))


@pytest.fixture
def one_file(tmp_path: Path) -> Path:
    """A folder with the prices alone."""
    target = tmp_path / "mine"
    target.mkdir()
    shutil.copy(shipped_folder() / "prices.csv", target)
    return target


def _price(gpu: str, **values: str) -> Callable[[list[dict[str, str]]], None]:
    def change(rows: list[dict[str, str]]) -> None:
        next(r for r in rows if r["gpu"] == gpu).update(values)

    return change


def test_copy_is_the_same(folder: Path) -> None:
    copy = gx.load_catalog(folder)
    assert copy.tables == CATALOG.tables
    assert gx.tco3y("L4", catalog=copy) == gx.tco3y("L4", catalog=str(folder)) == gx.tco3y("L4")


def test_one_file_overlays(one_file: Path) -> None:
    _edit(one_file / "prices.csv", _price("RTX 5090", typical="3000"))
    catalog = gx.load_catalog(one_file)
    assert gx.price_of("RTX 5090", catalog=catalog) == 3000
    assert catalog.rows("models") == CATALOG.rows("models")
    assert gx.price_of("RTX 5090") == CATALOG.find("prices", "RTX 5090")["typical"] != 3000


def test_older_assumptions_are_completed(tmp_path: Path) -> None:
    (tmp_path / "assumptions.csv").write_text(
        "name,value,unit,low,high,source,as_of,confidence\nutilization,0.4,1,,,Mine,2026-10-01,stated\n", encoding="utf-8"
    )
    catalog = gx.load_catalog(tmp_path)
    assert catalog.assumption("utilization") == 0.4
    assert catalog.assumption("pue") == CATALOG.assumption("pue")
    assert gx.tco3y("L4", catalog=catalog) == pytest.approx(gx.tco3y("L4", utilization=0.4))


def test_no_source_no_price(one_file: Path) -> None:
    _edit(one_file / "prices.csv", _price("RTX 5090", source=""))
    catalog = gx.load_catalog(one_file)
    with pytest.raises(gx.BadValue, match="no sourced price"):
        gx.tco3y("RTX 5090", catalog=catalog)
    with pytest.raises(gx.BadValue, match="no sourced price"):
        gx.cost_per_mtok("Llama 3.1 8B", "RTX 5090", "fp8", catalog=catalog)
    assert gx.tco3y("RTX 5090", price=3000, catalog=catalog) > 3000
    assert gx.tokps("Llama 3.1 8B", "RTX 5090", "fp8", catalog=catalog) > 0


def test_blank_price_is_no_price(one_file: Path) -> None:
    _edit(one_file / "prices.csv", _price("RTX 5090", low="", typical="", high=""))
    with pytest.raises(gx.BadValue, match="no sourced price"):
        gx.tco3y("RTX 5090", catalog=gx.load_catalog(one_file))


def test_blank_low_price_falls_back_to_typical(one_file: Path) -> None:
    _edit(one_file / "prices.csv", _price("RTX 5090", low="", typical="3000"))
    assert gx.price_of("RTX 5090", options="case=low", catalog=gx.load_catalog(one_file)) == 3000


def test_files_as_spreadsheets_save_them(one_file: Path) -> None:
    """A byte-order mark and Windows line ends are fine."""
    path = one_file / "prices.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert gx.load_catalog(one_file).rows("prices") == CATALOG.rows("prices")


def test_all_problems_at_once(folder: Path) -> None:
    """Every problem with file, line and column, in one refusal."""
    _edit(folder / "prices.csv", _price("RTX 5090", typical="cheap", currency="GBP"))
    _edit(folder / "prices.csv", _price("L4", typical="-5", as_of="soon"))

    def cards(rows: list[dict[str, str]]) -> None:
        rows[0]["bandwidth_gb_s"] = ""
        rows[1]["tdp_w"] = "0"
        rows[2]["ecc"] = "perhaps"
        rows[3]["memory_gb"] = "nan"
        rows[4]["tflops_16"] = "inf"
        rows[6]["gpu"] = rows[5]["gpu"]
        rows[7]["gpu"] = "RTX *"

    _edit(folder / "gpus.csv", cards)
    (folder / "links.csv").unlink()
    (folder / "engines.csv").write_text("engine,family\nvLLM,vLLM\n", encoding="utf-8")
    (folder / "workloads.csv").write_bytes(b"workload\xff\xfe\n")
    lines = {name: i + 2 for i, name in enumerate(r["gpu"] for r in CATALOG.rows("prices"))}
    with pytest.raises(gx.BadFile) as caught:
        gx.load_catalog(folder)
    problems = caught.value.problems
    wanted = [
        rf"^prices\.csv line {lines['RTX 5090']} column typical is 'cheap'; a number",
        rf"^prices\.csv line {lines['RTX 5090']} column currency is 'GBP'; one of EUR, USD",
        rf"^prices\.csv line {lines['L4']} column typical is -5; a number of at least 0",
        rf"^prices\.csv line {lines['L4']} column as_of is 'soon'; a date",
        r"^gpus\.csv line 2 column bandwidth_gb_s is empty; a number above 0 \(GB/s\)",
        r"^gpus\.csv line 3 column tdp_w is 0; a number above 0 \(W\)",
        r"^gpus\.csv line 4 column ecc is 'perhaps'; one of yes, no",
        r"^gpus\.csv line 5 column memory_gb is nan; a number above 0",
        r"^gpus\.csv line 6 column tflops_16 is inf; a number above 0",
        r"^gpus\.csv .*8 column gpu repeats ",
        r"^gpus\.csv .*9 column gpu is 'RTX \*'; a name without",
        r"^engines\.csv line 1 lacks the column since",
        r"^workloads\.csv is not UTF-8 text",
    ]
    for pattern in wanted:
        assert any(re.search(pattern, p) for p in problems), f"{pattern} is not among {problems}"
    assert len(problems) == len(wanted)
    assert all(p in str(caught.value) for p in problems)
    assert isinstance(caught.value, ValueError)


def test_row_with_too_few_or_too_many_cells(one_file: Path) -> None:
    """A row cut short has empty cells; it does not break the loader. One with more cells than heads is a problem."""
    path = one_file / "prices.csv"
    text = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*text, "L40S,1000"]) + "\n", encoding="utf-8")
    with pytest.raises(gx.BadFile, match=r"prices\.csv .*repeats 'L40S'"):
        gx.load_catalog(one_file)


def test_empty_folder_and_nothing(tmp_path: Path) -> None:
    with pytest.raises(gx.BadFile, match="holds no catalogue file"):
        gx.load_catalog(tmp_path)
    with pytest.raises(gx.GpueconError):
        gx.load_catalog(tmp_path / "nowhere.xlsx")


@pytest.mark.parametrize(
    ("name", "value"),
    [("utilization", "often"), ("utilization", "7"), ("pue", "often"), ("pue", "-1"), ("electricity_eur_kwh", "-0.2"), ("horizon_years", "0")],
)
def test_assumption_out_of_its_bounds(tmp_path: Path, name: str, value: str) -> None:
    """Text or a negative number where a number is due is refused, at the latest by the function that reads it."""
    rows = f"name,value,unit,low,high,source,as_of,confidence\n{name},{value},1,,,Mine,2026-10-01,stated\n"
    (tmp_path / "assumptions.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(gx.GpueconError, match=rf"{name}|assumptions\.csv line 2"):
        gx.tco3y("L4", catalog=gx.load_catalog(tmp_path))


def test_shipped_catalogue_is_untouched_by_overlays(one_file: Path) -> None:
    before = {t: [dict(r) for r in rows] for t, rows in CATALOG.tables.items()}
    catalog = gx.load_catalog(one_file)
    gx.tco3y(["L4", "RTX 5090"], catalog=catalog)
    assert before == CATALOG.tables
