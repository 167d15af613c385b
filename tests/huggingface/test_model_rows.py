"""Rows made from published configuration files: every column that of the catalogue, parameters exact, cache exact."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from config_files import FOLDER, config_of, published, written

from gpuecon_xl import graph, load_catalog
from gpuecon_xl.catalog import shipped_folder
from gpuecon_xl.huggingface.configuration import published_defaults
from gpuecon_xl.huggingface.families import FAMILIES
from gpuecon_xl.huggingface.row import checked, header_row, model_row
from gpuecon_xl.huggingface.towers import TOWERS
from gpuecon_xl.units import GIB, GIGA

FILES = published()
TEXTS = ("model", "hf_id", "aliases", "family", "source", "as_of", "confidence", "note")
COLUMNS = [c for c in header_row() if c not in TEXTS]

# Vendors who count active parameters without the input embedding (1 table) or without embedding and head (2 tables).
ACTIVE_WITHOUT = {
    "gpt-oss-20b": 1, "gpt-oss-120b": 1, "DeepSeek V3": 1, "DeepSeek R1": 1, "DeepSeek V3.2": 1, "GLM-4.7-Flash": 1,
    "GLM-4.5-Air": 2, "GLM-4.7": 2, "GLM-5": 2, "MiniMax-Text-01": 2, "MiniMax-M2": 2,
}  # fmt: skip
# The vendor states less than the file allows (model cards of LFM2).
CONTEXT_STATED = {"LFM2-1.2B": 128_000, "LFM2-8B-A1B": 128_000}
# Checkpoints of a catalogue model in another number format.
FORMAT = {"llama-3.3-70b-fp8.json": "fp8", "llama-3.3-70b-awq.json": "int4-awq", "qwen2.5-72b-gptq-int4.json": "int4-gptq"}


def _catalogue_texts() -> dict[str, dict[str, str]]:
    """Rows of the catalogue as they are written, so that a figure's digits are known."""
    with (shipped_folder() / "models.csv").open(encoding="utf-8", newline="") as file:
        return {r["model"]: r for r in csv.DictReader(file)}


CATALOGUE = _catalogue_texts()


def _made(file: str, name: str = "a model") -> dict[str, Any]:
    return checked(model_row(FOLDER / file, name=name), file)


def _agrees(ours: float, text: str) -> bool:
    """Whether a figure is the written one to the digits that are written."""
    decimals = len(text.partition(".")[2])
    digits = len(text.replace(".", "").lstrip("0"))
    return abs(ours - float(text)) <= 0.5000001 * 10.0**-decimals and digits >= 2


def test_the_files_cover_what_is_claimed() -> None:
    assert len({f["model"] for f in FILES}) >= 70
    assert {f["file"] for f in FILES} == {p.name for p in FOLDER.glob("*.json")}
    kinds = {json.loads(p.read_text(encoding="utf-8"))["model_type"] for p in FOLDER.glob("*.json")}
    assert len(kinds) >= 35


def test_each_known_type_has_its_defaults_and_the_other_way_round() -> None:
    assert set(published_defaults()) == {*FAMILIES, *TOWERS}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f["file"])
def test_parameters_are_exact(file: dict[str, str]) -> None:
    assert round(_made(file["file"])["params_b"] * GIGA) == int(file["parameters"])


@pytest.mark.parametrize("file", FILES, ids=lambda f: f["file"])
def test_every_column_is_that_of_the_catalogue(file: dict[str, str]) -> None:
    row, known = _made(file["file"], file["model"]), CATALOGUE[file["model"]]
    assert row["model"] == file["model"]
    expected = {c: known[c] for c in COLUMNS}
    if file["model"] in CONTEXT_STATED:
        assert int(expected["max_context"]) < CONTEXT_STATED[file["model"]]
        expected["max_context"] = str(CONTEXT_STATED[file["model"]])
    if file["file"] in FORMAT:
        expected["precision"] = FORMAT[file["file"]]
    left_out = ACTIVE_WITHOUT.get(file["model"], 0) * row["vocab"] * row["hidden"] / GIGA
    wrong = {}
    for column, text in expected.items():
        ours = row[column]
        if column == "precision":
            same = ours == text
        elif column in ("params_b", "active_b"):
            same = _agrees(ours - (left_out if column == "active_b" else 0), text)
        elif column in ("state_mib", "allreduces_layer") and text:
            same = _agrees(ours or 0, f"{float(text):.1f}" if float(text) > 99 else text) or float(ours or 0) == float(text)
        else:
            same = float(ours or 0) == float(text or 0)
        if not same:
            wrong[column] = (ours, text)
    assert not wrong


# ------------------------------------------------------------------------------------------------ cache and weights


def _quantity(row: dict[str, Any], quantity: str, precision: str, **more: float) -> float:
    values = {k: 0.0 if v is None else v for k, v in row.items()} | dict(load_catalog().find("precisions", precision))
    values |= {"weights_overhead": 1.0, "tp": 1.0, "bytes_kv_named": 2.0, "kv_bytes_low": 2.0} | more
    names = tuple(n for n in graph.parameters_of([quantity]) if n in values)
    return float(graph.plan((quantity,), names)(*(values[n] for n in names))[0])


@pytest.mark.parametrize(
    ("file", "bytes_token"),
    [
        ("llama-2-7b", 524_288),  # 32 layers · 2 · 32 heads · 128 · 2 bytes
        ("llama-3.1-8b", 131_072),
        ("llama-3.2-1b", 32_768),
        ("llama-3.3-70b", 327_680),
        ("llama-3.2-11b-vision", 131_072),  # 32 of 40 layers; the others attend to the image
        ("llama-4-scout", 196_608),
        ("mistral-7b-v0.1", 131_072),  # all of it in a window
        ("mistral-small-24b", 163_840),  # head_dim is a key of its own
        ("mixtral-8x7b", 131_072),
        ("qwen2.5-1.5b", 28_672),
        ("qwen2.5-72b", 327_680),
        ("qwen3-32b", 262_144),
        ("qwen3-30b-a3b", 98_304),
        ("qwen3-next-80b-a3b", 24_576),  # 12 of 48 layers
        ("qwen3.5-397b-a17b", 30_720),  # 15 of 60 layers
        ("gemma-2-9b", 344_064),
        ("gemma-3-27b", 507_904),
        ("gemma-4-31b", 901_120),  # 10 · 2 · 4 · 512 · 2 + 50 · 2 · 16 · 256 · 2
        ("phi-4", 204_800),
        ("gpt-oss-20b", 49_152),
        ("gpt-oss-120b", 73_728),
        ("deepseek-v2-lite", 31_104),  # latent: 27 · 576 · 2
        ("deepseek-v3", 70_272),
        ("glm-4.5-air", 188_416),
        ("glm-5", 89_856),
        ("minimax-text-01", 40_960),  # 10 of 80 layers
        ("minimax-m2", 253_952),
        ("kimi-k2", 70_272),
        ("nemotron-h-8b", 16_384),  # 4 of 52 blocks
        ("nemotron-super-49b", 200_704),  # 49 of 80 layers
        ("falcon-7b", 8_192),  # one key-value head
        ("falcon-40b", 122_880),
        ("gpt-j-6b", 458_752),
        ("lfm2-1.2b", 12_288),
    ],
)
def test_cache_of_a_token_is_exact(file: str, bytes_token: int) -> None:
    """By hand from each architecture, 16 bit, one card; from the file and from the catalogue."""
    assert _quantity(_made(f"{file}.json"), "kv_bytes_token", "bf16") == bytes_token
    model = next(f["model"] for f in FILES if f["file"] == f"{file}.json")
    assert _quantity(load_catalog().find_model(model)[0], "kv_bytes_token", "bf16") == bytes_token


@pytest.mark.parametrize(
    ("file", "gib"),
    [  # GiB that vLLM reports when it has loaded the checkpoint
        ("llama-3.1-8b", 14.99),
        ("qwen3-32b", 61.03),
        ("llama-3.3-70b-fp8", 67.72),
        ("gpt-oss-20b", 13.47),
        ("gpt-oss-120b", 64.38),
    ],
)
def test_weights_as_loaded(file: str, gib: float) -> None:
    row = _made(f"{file}.json")
    assert _quantity(row, "weights_gb", row["precision"]) * GIGA / GIB == pytest.approx(gib, rel=0.01)


# ------------------------------------------------------------------------------------------------ number formats


def _compressed(bits: int, kind: str, form: str, **more: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": {"num_bits": bits, "type": kind, **more}}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}}


@pytest.mark.parametrize(
    ("quantization", "precision"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "int4-awq"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "int4-gptq"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        ({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}, "fp8"),
        ({"quant_method": "fbgemm_fp8"}, "fp8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, "fp8"),
        ({"quant_method": "modelopt", "quantization": {"quant_algo": "NVFP4"}}, "nvfp4"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4-awq"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8"),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}}, "mxfp4"),
        ({"quant_method": "exl3", "bits": 4.0}, "exl3-4.0bpw"),
        (_compressed(8, "float", "float-quantized"), "fp8"),
        (_compressed(8, "int", "int-quantized"), "int8"),
        (_compressed(4, "int", "pack-quantized", group_size=32), "int4-gptq"),
        (_compressed(4, "float", "nvfp4-pack-quantized", group_size=16), "nvfp4"),
        (_compressed(4, "float", "mixed", group_size=32), "mxfp4"),
    ],
)
def test_quantised_files_give_the_precision(tmp_path: Path, quantization: dict[str, Any], precision: str) -> None:
    tree = config_of("llama-3.1-8b") | {"quantization_config": quantization}
    row = model_row(written(tmp_path, tree), name="x1")
    assert row["precision"] == precision
    assert row["params_b"] == _made("llama-3.1-8b.json")["params_b"]


def test_number_format_in_a_file_beside(tmp_path: Path) -> None:
    """nvidia/Qwen3-32B-NVFP4: hf_quant_config.json."""
    written(tmp_path, {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "group_size": 16}}, "hf_quant_config.json")
    assert model_row(written(tmp_path, config_of("qwen3-32b")), name="x1")["precision"] == "nvfp4"
    told = config_of("qwen3-32b") | {"quantization_config": {"quant_method": "fp8"}}
    assert model_row(written(tmp_path, told), name="x1")["precision"] == "fp8"  # the file itself goes first


@pytest.mark.parametrize(("dtype", "precision"), [("bfloat16", "bf16"), ("float16", "fp16"), ("float32", "fp32")])
def test_plain_files_give_the_data_type(tmp_path: Path, dtype: str, precision: str) -> None:
    tree = config_of("llama-3.1-8b") | {"torch_dtype": dtype}
    assert model_row(written(tmp_path, tree), name="x1")["precision"] == precision


# ------------------------------------------------------------------------------------------------ variants of an architecture


def test_biases_count_if_the_file_says_so(tmp_path: Path) -> None:
    tree = config_of("llama-3.1-8b") | {"attention_bias": True, "mlp_bias": True}
    more = 32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096)
    assert round(model_row(written(tmp_path, tree), name="x1")["params_b"] * GIGA) == 8_030_261_248 + more


def test_glm_has_two_norms_a_layer_where_its_successor_has_four(tmp_path: Path) -> None:
    tree = config_of("glm-4-9b") | {"model_type": "glm", "max_position_embeddings": 131072}  # THUDM/glm-4-9b-chat-hf
    row = model_row(written(tmp_path, tree), name="x1")
    assert round(row["params_b"] * GIGA) == 9_399_951_360
    assert row["max_context"] == 131072


def test_tied_head_counts_once(tmp_path: Path) -> None:
    tree = config_of("llama-3.1-8b") | {"tie_word_embeddings": True}
    row = model_row(written(tmp_path, tree), name="x1")
    assert row["embed_copies"] == 1
    assert round(row["params_b"] * GIGA) == 8_030_261_248 - 128_256 * 4096


def test_window_as_wide_as_the_context_is_none(tmp_path: Path) -> None:
    tree = config_of("mistral-7b-v0.1")
    assert model_row(written(tmp_path, tree), name="x1")["layers_window"] == 32
    row = model_row(written(tmp_path, tree | {"sliding_window": 32768}), name="x1")
    assert (row["layers_full"], row["layers_window"], row["window"]) == (32, None, None)


def test_qwen_window_from_a_layer_on(tmp_path: Path) -> None:
    tree = config_of("qwen2-7b") | {"use_sliding_window": True, "max_window_layers": 20, "sliding_window": 4096}
    row = model_row(written(tmp_path, tree), name="x1")
    assert (row["layers_full"], row["layers_window"], row["window"]) == (20, 8, 4096)


def test_experts_on_a_latent_width(tmp_path: Path) -> None:
    """A quarter of the width: the same parameters as experts of a quarter on the full width, and two projections more."""
    plain = config_of("nemotron-3-nano-30b-a3b")
    latent = 672
    row = model_row(written(tmp_path, plain | {"moe_latent_size": latent}), name="x1")
    assert row["expert_ffn"] == 1856 * latent // 2688
    less = 23 * 128 * 2 * 1856 * (2688 - latent) - 23 * 2 * 2688 * latent
    assert round(row["params_b"] * GIGA) == 31_577_937_344 - less


def test_pattern_may_be_a_list(tmp_path: Path) -> None:
    tree = config_of("nemotron-3-nano-30b-a3b")
    words = {"M": "mamba", "E": "moe", "*": "attention", "-": "mlp"}
    listed = {k: v for k, v in tree.items() if k != "hybrid_override_pattern"}
    listed["layers_block_type"] = [words[c] for c in tree["hybrid_override_pattern"]]
    one, other = model_row(written(tmp_path, tree), name="x1"), model_row(written(tmp_path, listed), name="x1")
    assert one == other


@pytest.mark.parametrize("file", ["qwen2.5-vl-7b", "qwen2-vl-7b"])
def test_decoder_keys_at_the_top_or_in_an_object_of_their_own(tmp_path: Path, file: str) -> None:
    """Newer releases of the library write the same model with a text_config."""
    flat = config_of(file)
    top = {k: flat[k] for k in ("architectures", "model_type", "vision_config", "torch_dtype", "tie_word_embeddings")}
    text = {k: v for k, v in flat.items() if k not in top} | {"model_type": f"{flat['model_type']}_text"}
    assert model_row(written(tmp_path, top | {"text_config": text}), name="x1") == model_row(written(tmp_path, flat), name="x1")


def test_text_alone_of_a_model_with_a_tower(tmp_path: Path) -> None:
    whole = _made("gemma-3-27b.json")
    text = config_of("gemma-3-27b")["text_config"] | {"torch_dtype": "bfloat16"}
    row = model_row(written(tmp_path, text), name="x1")
    assert row["tokens_image"] is None
    assert {k: v for k, v in row.items() if k in COLUMNS and k not in ("params_b", "active_b", "tokens_image")} == {
        k: v for k, v in whole.items() if k in COLUMNS and k not in ("params_b", "active_b", "tokens_image")
    }
    assert whole["params_b"] - row["params_b"] == pytest.approx(0.423, abs=0.001)  # the SigLIP tower and its projector


# ------------------------------------------------------------------------------------------------ the index


def _index(folder: Path, total: int) -> Path:
    return written(folder, {"metadata": {"total_size": total}, "weight_map": {"model.norm.weight": "model.safetensors"}}, "index.json")


@pytest.mark.parametrize("file", ["llama-3.1-8b", "qwen3-30b-a3b", "gemma-3-27b", "gpt-j-6b"])
def test_index_of_a_plain_checkpoint_gives_its_parameters(tmp_path: Path, file: str) -> None:
    row = _made(f"{file}.json")
    width = 4 if row["precision"] == "fp32" else 2
    total = round(row["params_b"] * GIGA) * width
    with_index = model_row(FOLDER / f"{file}.json", index=_index(tmp_path, total), name="a model")
    assert with_index["params_b"] == row["params_b"]
    assert with_index["active_b"] == row["active_b"]
    assert str(total) in with_index["note"]


def test_index_of_a_quantised_checkpoint_gives_its_bytes(tmp_path: Path) -> None:
    """meta-llama 70B in AWQ as published, 39.77 GB: the equation of the weights gives just these bytes."""
    total = 39_769_645_056
    row = model_row(FOLDER / "llama-3.3-70b-awq.json", index=_index(tmp_path, total), name="a model")
    assert _quantity(row, "weights_gb", "int4-awq") * GIGA == pytest.approx(total, rel=1e-9)


def test_index_that_differs_is_said(tmp_path: Path) -> None:
    row = model_row(FOLDER / "deepseek-v3.json", index=_index(tmp_path, 688_586_727_753), name="a model")  # with its MTP layer
    assert "architecture has 671e9" in row["note"]
    assert row["params_b"] == pytest.approx(686.7, abs=0.5)
