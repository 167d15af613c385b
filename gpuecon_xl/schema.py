"""What each table of the catalogue holds: columns, kinds, units, bounds.

Here: one description that the CSV loader, the workbook's input sheets, their validation and the reader of edited
workbooks share. Not here: labels (``lang/``) and the rows themselves (``catalog/``).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Field:
    """A column: its name, what may stand in it, and how the workbook shows it.

    kind: ``number``, ``count`` (whole), ``text``, ``key`` (text that rows are found by), ``flag`` (yes or no), ``date``
    or ``choice``. A blank number counts as 0, as a formula counts it, unless `required`.
    """

    name: str
    kind: str = "text"
    unit: str = ""
    required: bool = False
    low: float | None = None  # smallest value allowed
    high: float | None = None  # largest value allowed
    positive: bool = False  # zero refused
    choices: tuple[str, ...] = ()
    width: int = 12
    fmt: str = ""  # number format key of the writer; by kind when empty
    private: bool = False  # never leaves the house
    in_book: bool = True  # shown on the workbook's input sheet

    @property
    def numeric(self) -> bool:
        """Whether a number stands in it."""
        return self.kind in ("number", "count")


@dataclass(frozen=True)
class Table:
    """A table of facts: its file name in ``catalog/``, its name in the workbook, its columns."""

    name: str
    book_name: str
    fields: tuple[Field, ...]
    key: str
    by_name: dict[str, Field] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        self.by_name.update({f.name: f for f in self.fields})


def _n(name: str, unit: str = "", **more: object) -> Field:
    more.setdefault("low", 0.0)
    return Field(name, "number", unit, **more)  # type: ignore[arg-type]


def _c(name: str, unit: str = "", **more: object) -> Field:
    more.setdefault("low", 0.0)
    return Field(name, "count", unit, **more)  # type: ignore[arg-type]


def _t(name: str, **more: object) -> Field:
    return Field(name, **more)  # type: ignore[arg-type]


def _flag(name: str) -> Field:
    return Field(name, "flag", choices=("yes", "no"), width=8)


_CONFIDENCE = ("measured", "datasheet", "stated", "unverified")
_ORIGIN = (
    Field("source", width=34),
    Field("as_of", "date", width=11),
    Field("confidence", "choice", choices=_CONFIDENCE, width=11),
)
_NOTE = Field("note", width=40)

_TABLES = (
    Table(
        "assumptions",
        "Assumptions",
        (
            Field("name", "key", required=True, width=24),
            Field("value", "any", required=False, width=26),
            Field("unit", width=22),
            _n("low"),
            _n("high"),
            *_ORIGIN,
        ),
        "name",
    ),
    Table(
        "gpus",
        "Cards",
        (
            Field("gpu", "key", required=True, width=32),
            _t("aliases", in_book=False),
            _t("vendor", width=9),
            _t("architecture", width=13),
            _n("memory_gb", "GB", required=True, positive=True),
            _n("memory_usable_mib", "MiB", required=True, positive=True),
            _n("bandwidth_gb_s", "GB/s", required=True, positive=True),
            _n("tflops_16", "TFLOP/s", required=True, positive=True),
            _n("tflops_fp8", "TFLOP/s"),
            _n("tops_int8", "TOP/s"),
            _n("tflops_fp4", "TFLOP/s"),
            _n("tdp_w", "W", required=True, positive=True),
            Field("link", "key", width=16),
            Field("efficiency_class", "key", width=16),
            _c("slots"),
            _t("cooling", width=9),
            _flag("ecc"),
            _t("form_factor", width=11),
            _flag("datacenter"),
            _flag("consumer"),
            _flag("for_sale"),
            *_ORIGIN,
            _NOTE,
        ),
        "gpu",
    ),
    Table(
        "prices",
        "Prices",
        (
            Field("gpu", "key", required=True, width=32),
            _n("low", "per card, net", fmt="money", private=True),
            _n("typical", "per card, net", fmt="money", private=True),
            _n("high", "per card, net", fmt="money", private=True),
            Field("currency", "choice", choices=("EUR", "USD"), width=9),
            _t("channel", width=18),
            *_ORIGIN,
            _NOTE,
        ),
        "gpu",
    ),
    Table(
        "models",
        "Models",
        (
            Field("model", "key", required=True, width=26),
            _t("hf_id", in_book=False),
            _t("aliases", in_book=False),
            _t("family", width=12),
            _n("params_b", "1e9", required=True, positive=True),
            _n("active_b", "1e9", required=True, positive=True),
            _c("layers", required=True, positive=True),
            _c("hidden", required=True, positive=True),
            _c("heads"),
            _c("kv_heads"),
            _c("head_dim"),
            _c("vocab"),
            _c("embed_copies", low=0, high=2),
            _c("max_context", "token"),
            _c("layers_full"),
            _c("layers_window"),
            _c("window", "token"),
            _c("window_kv_heads"),
            _c("window_head_dim"),
            _c("layers_linear"),
            _n("state_mib", "MiB"),
            _c("kv_lora_rank"),
            _c("rope_dim"),
            _c("experts"),
            _c("experts_active"),
            _c("expert_ffn"),
            _c("layers_moe"),
            _c("expert_mats"),
            _n("allreduces_layer"),
            _c("tokens_image", "token"),
            Field("precision", "key", width=11),
            *_ORIGIN,
            _NOTE,
        ),
        "model",
    ),
    Table(
        "precisions",
        "Precisions",
        (
            Field("precision", "key", required=True, width=12),
            _t("aliases", in_book=False),
            _n("bytes_weight", "byte", required=True, positive=True),
            _n("bytes_embed", "byte", required=True),
            _n("bytes_nonexpert_moe", "byte", required=True),
            _n("bytes_kv", "byte"),
            _c("expert_pad", required=True, positive=True),
            Field("kernel", "choice", choices=("16", "fp8", "int8", "fp4", "w8", "w4", "gguf", "exl3"), width=8),
            _t("engines", in_book=False),  # families that load weights in it: name | name (vendor, vendor); blank is all
            _t("kv_engines", in_book=False),  # the same for the cache
            *_ORIGIN,
            _NOTE,
        ),
        "precision",
    ),
    Table(
        "links",
        "Links",
        (
            Field("link", "key", required=True, width=16),
            _n("alpha_pair_us", "µs"),
            _n("alpha_power", low=None),
            _n("bus_pair_gb_s", "GB/s", required=True, positive=True),
            _n("bus_power", low=None),
            *_ORIGIN,
            _NOTE,
        ),
        "link",
    ),
    Table(
        "engines",
        "Engines",
        (
            Field("engine", "key", required=True, width=20),
            _t("family", width=13),
            _t("since", width=8),
            _n("memory_share", high=1),
            _n("activation_dense_gib", "GiB"),
            _n("activation_moe_gib", "GiB"),
            _n("activation_vocab_gib", "GiB/1e6 entries"),
            _n("large_card_gb", "GB"),
            _n("small_card_factor", high=1),
            _n("nontorch_one_gib", "GiB"),
            _n("nontorch_many_gib", "GiB"),
            _c("max_sequences", required=True, positive=True),
            _n("kv_bytes_low", "byte", required=True, positive=True),
            _c("prefill_chunk_tokens", "token", required=True, positive=True),
            _c("pipeline_batches", high=1),
            _n("overlap", high=1),
            _n("layer_us", "µs"),
            _n("layer_moe_us", "µs"),
            _n("step_ms", "ms"),
            _n("sequence_us", "µs"),
            _n("request_ms", "ms"),
            _n("prefill_factor", required=True, positive=True),
            _n("kv_sharing_power"),
            _n("alpha_factor"),
            _n("bus_factor", required=True, positive=True),
            _c("window_alloc_full", high=1),
            *_ORIGIN,
            _NOTE,
        ),
        "engine",
    ),
    Table(
        "efficiency",
        "Efficiency",
        (
            Field("efficiency_key", "key", required=True, width=22),
            _n("weight_efficiency", required=True, positive=True, high=1),
            _n("kv_efficiency", required=True, positive=True, high=1),
            _n("dense_compute_efficiency", required=True, positive=True, high=1),
            _n("moe_compute_factor", required=True, positive=True),
            _n("decode_compute_factor", required=True, positive=True),
            _n("expert_read_factor", required=True, positive=True),
            _n("band_low", high=1),
            _n("band_high"),
            _c("n"),
            *_ORIGIN,
            _NOTE,
        ),
        "efficiency_key",
    ),
    Table(
        "cloud_rates",
        "Rates",
        (
            Field("rate", "key", required=True, width=28),
            Field("gpu", "key", width=30),
            _t("provider", width=16),
            Field("term", "choice", choices=("on-demand", "reserved", "interruptible"), width=13),
            _c("commitment_months", "month"),
            Field("currency", "choice", choices=("EUR", "USD"), width=9),
            _n("rate_low", "per GPU-hour", positive=True, fmt="rate"),
            _n("rate_hour", "per GPU-hour", required=True, positive=True, fmt="rate"),
            _n("rate_high", "per GPU-hour", positive=True, fmt="rate"),
            *_ORIGIN,
            _NOTE,
        ),
        "rate",
    ),
    Table(
        "api_prices",
        "Apis",
        (
            Field("api", "key", required=True, width=22),
            _t("provider", width=12),
            _t("class", width=10),
            Field("currency", "choice", choices=("EUR", "USD"), width=9),
            _n("price_in_mtok", "per 1e6 tokens in", fmt="rate"),
            _n("price_out_mtok", "per 1e6 tokens out", fmt="rate"),
            *_ORIGIN,
            _NOTE,
        ),
        "api",
    ),
    Table(
        "open_weight",
        "OpenWeight",
        (
            Field("model", "key", required=True, width=26),
            _n("params_stated_b", "1e9", required=True, positive=True),
            Field("api", "key", width=18),
            _c("cards_stated", "card"),
            _n("own_stated_usd_mtok", "USD/1e6 tokens", fmt="rate"),
            _n("verdict_stated", low=None, fmt="pct"),
            *_ORIGIN,
            _NOTE,
        ),
        "model",
    ),
    Table(
        "workloads",
        "Workloads",
        (
            Field("workload", "key", required=True, width=26),
            _t("buyer", width=22),
            Field("model", "key", required=True, width=20),
            Field("precision", "key", required=True, width=11),
            Field("kv", "key", width=8),
            _n("batch", "request", required=True, positive=True),
            _n("input_tokens", "token", required=True, positive=True),
            _n("output_tokens", "token", required=True, positive=True),
            _n("min_tok_s_user", "token/s"),
            _flag("need_ecc"),
            _flag("no_consumer"),
            _flag("need_datacenter"),
            _n("max_rack_units", "U"),
            _n("max_power_w", "W"),
            _c("max_cards", "card"),
            _n("max_budget_eur", "EUR", fmt="money"),
            _flag("need_stock"),
            Field("stated_pick", "key", width=22),
            _t("stated_reason", width=46),
            _t("description", width=40),
            *_ORIGIN,
        ),
        "workload",
    ),
    Table(
        "builds",
        "Builds",
        (
            Field("build", "key", required=True, width=22),
            Field("gpu", "key", required=True, width=30),
            _c("gpus", "card", required=True, positive=True),
            _c("tp_wanted"),
            _c("pp_wanted"),
            _n("chassis_wanted_eur", "EUR per card", fmt="money"),
            _n("rack_units", "U"),
            _t("form_factor", width=11),
            _flag("stocked"),
            _n("lead_weeks", "week"),
            _t("buyer", width=20),
            _t("parts", width=40),
            *_ORIGIN,
            _NOTE,
        ),
        "build",
    ),
    Table(
        "benchmarks",
        "Benchmarks",
        (
            Field("id", "key", required=True, width=9),
            Field("gpu", "key", width=30),
            _c("gpus", "card"),
            _c("tp"),
            _c("pp"),
            Field("model", "key", width=20),
            Field("precision", "key", width=11),
            Field("kv", "key", width=7),
            _t("engine", width=14),
            _n("batch", "request"),
            _n("input_tokens", "token"),
            _n("output_tokens", "token"),
            _t("metric", width=20),
            _n("low"),
            _n("value"),
            _n("high"),
            _t("unit", width=8),
            *_ORIGIN,
            _t("licence", width=12),
            _NOTE,
        ),
        "id",
    ),
)

TABLES: dict[str, Table] = {t.name: t for t in _TABLES}
BY_BOOK_NAME: dict[str, Table] = {t.book_name: t for t in _TABLES}

# Columns of a range: what is given of them rises from left to right.
ASCENDING = {"prices": ("low", "typical", "high"), "cloud_rates": ("rate_low", "rate_hour", "rate_high")}

# Names that must stand in another table: table, column, the other table.
LOOKED_UP = (("builds", "gpu", "gpus"), ("workloads", "model", "models"), ("workloads", "precision", "precisions"), ("prices", "gpu", "gpus"),
             ("cloud_rates", "gpu", "gpus"))  # fmt: skip

# Bounds of assumptions and options: shares from 0 to 1, and what must be above 0.
SHARES = frozenset(("utilization", "output_share", "spec_accept", "memory_free_share", "overlap", "residual_share", "idle_share",
                    "failure_share_year", "resale_start_share", "resale_decline_year", "loan_share", "loan_rate_year", "equity_return_year",
                    "tax_rate", "cloud_erosion_year", "api_erosion_year", "kv_reads", "collectives", "tp_factor", "headroom_wanted",
                    "yield_utilization"))  # fmt: skip
POSITIVE = frozenset(("tok_s", "rel", "input_tokens", "output_tokens", "usd_per_eur", "horizon_years", "tp", "pp", "output_share",
                       "weights_overhead", "months_written_off", "card_to_server", "pue", "memory_free_share"))  # fmt: skip


def assumption_field(name: str, unit: str) -> Field:
    """What may stand as the value of an assumption."""
    if unit in ("name", "date"):
        return Field(name, "text" if unit == "name" else "date", required=True)
    return Field(name, "number", unit, required=True, low=0.0, high=1.0 if name in SHARES else None, positive=name in POSITIVE)
