"""What is not a known, complete configuration is refused: one message, every key named, never a traceback."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from config_files import config_of, published, written
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuecon_xl.errors import BadFile, GpueconError
from gpuecon_xl.huggingface.configuration import MAX_CONFIG_BYTES
from gpuecon_xl.huggingface.row import model_row

NAMES = sorted(f["file"].removesuffix(".json") for f in published())
# Keys that decide which others are asked: with one of them gone, the others need not be named.
GATES = {"model_type", "text_config", "vision_config", "hybrid_override_pattern", "block_configs", "block_auto_adjust_ff_dim",
         "new_decoder_architecture", "quantization_config", "attn_type_list"}  # fmt: skip
# The same, with a meaning when they are left out: then the file may be complete without the others.
SWITCHES = {"attention_k_eq_v", "enable_moe_block", "use_sliding_window", "quantization_config", "layer_types"}

Path_ = tuple[str, ...]


def _paths(tree: dict[str, Any]) -> list[Path_]:
    """Keys of the file and of the objects that describe decoder and tower."""
    found: list[Path_] = []
    for key, value in tree.items():
        found.append((key,))
        if key in ("text_config", "vision_config"):
            found += [(key, inner) for inner in value]
    return found


def _without(tree: dict[str, Any], gone: set[Path_]) -> dict[str, Any]:
    made = {}
    for key, value in tree.items():
        if (key,) in gone:
            continue
        inner = key in ("text_config", "vision_config")
        made[key] = {k: v for k, v in value.items() if (key, k) not in gone} if inner else value
    return made


def _attempt(tree: Any) -> str | None:
    """The refusal of a content, or None when it gives a row."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            row = model_row(written(Path(folder), tree), name="a model")
        except GpueconError as error:
            return str(error)
    assert row["params_b"] > 0
    return None


@cache
def _needed(name: str) -> frozenset[Path_]:
    """Keys without which a file is refused, each taken out alone."""
    tree = config_of(name)
    return frozenset(p for p in _paths(tree) if _attempt(_without(tree, {p})) is not None)


@pytest.mark.parametrize("name", NAMES)
def test_each_needed_key_is_named_when_it_is_missing(name: str) -> None:
    tree = config_of(name)
    needed = _needed(name)
    assert {"model_type"} <= {p[-1] for p in needed}
    assert len(needed) >= 6
    for path in needed:
        message = _attempt(_without(tree, {path}))
        assert message is not None
        assert ".".join(path) in message or path[-1] in message, path


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_keys_missing(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    tree = config_of(name)
    gone = set(data.draw(st.lists(st.sampled_from(_paths(tree)), unique=True, max_size=12)))
    message = _attempt(_without(tree, gone))
    needed, leaves = gone & _needed(name), {p[-1] for p in gone}
    if not needed or leaves & SWITCHES:
        return
    assert message is not None, needed
    assert any(p[-1] in message for p in needed)
    for path in needed:
        # without its number of layers nothing that stands in a layer is asked for
        assert leaves & (GATES | {"num_hidden_layers"}) or path[-1] in message, path


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8),
    st.lists(st.integers(-3, 3), max_size=4), st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_values(data: st.DataObject) -> None:
    """A wrong value is refused or does not matter; nothing else happens."""
    name = data.draw(st.sampled_from(NAMES))
    tree = config_of(name)
    for path in data.draw(st.lists(st.sampled_from(_paths(tree)), min_size=1, max_size=4, unique=True)):
        place = tree
        for key in path[:-1]:
            place = place.get(key)
            if not isinstance(place, dict):
                break
        else:
            place[path[-1]] = data.draw(JUNK)
    _attempt(tree)


@settings(max_examples=60, deadline=None)
@given(quantization=st.recursive(JUNK, lambda inner: st.dictionaries(
    st.sampled_from(["quant_method", "bits", "format", "config_groups", "group_0", "weights", "num_bits", "type", "quant_algo", "weight"]), inner)),
    method=st.sampled_from(["awq", "gptq", "compressed-tensors", "modelopt", "quark", "exl3", "bitsandbytes", "hqq", "", "fp8"]))  # fmt: skip
def test_any_quantization(quantization: Any, method: str) -> None:
    tree = config_of("llama-3.1-8b")
    tree["quantization_config"] = quantization
    if isinstance(quantization, dict):
        tree["quantization_config"] = {"quant_method": method, **quantization}
    _attempt(tree)


@settings(max_examples=60, deadline=None)
@given(tree=st.recursive(JUNK, lambda inner: st.dictionaries(st.sampled_from(["model_type", "text_config", "vision_config", "x"]), inner)))
def test_any_json(tree: Any) -> None:
    assert _attempt(tree) is not None


# ------------------------------------------------------------------------------------------------ sentences


def test_all_problems_at_once(tmp_path: Path) -> None:
    tree = config_of("llama-3.1-8b")
    del tree["hidden_size"], tree["vocab_size"]
    tree |= {"num_hidden_layers": -3, "attention_bias": "yes", "torch_dtype": "int7"}
    with pytest.raises(BadFile) as refused:
        model_row(written(tmp_path, tree), name="=1+1", aliases="good | b*d", source=" ")
    text = str(refused.value)
    for part in (
        "lacks the keys hidden_size or n_embd, vocab_size",
        "num_hidden_layers is -3",
        'attention_bias is "yes"',
        "'int7'",
        "'=1+1'",
        "'b*d'",
        "--source",
    ):
        assert part in text, part
    assert len(refused.value.problems) == 7


def test_unknown_family_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"model_type is 'llama9', which is not known; one of .*qwen3_moe.* is due \(nearest: llama"):
        model_row(written(tmp_path, config_of("llama-3.1-8b") | {"model_type": "llama9"}), name="a")


def test_unknown_decoder_in_a_known_tower(tmp_path: Path) -> None:
    tree = config_of("mistral-small-3.1-24b")
    tree["text_config"]["model_type"] = "mistral9"
    with pytest.raises(BadFile, match=r'text_config\.model_type is "mistral9"; one of .*ministral3'):
        model_row(written(tmp_path, tree), name="a")


@pytest.mark.parametrize(
    ("quantization", "words"),
    [
        ({"quant_method": "hqq"}, 'quant_method is "hqq"; one of awq'),
        ({"quant_method": "awq"}, "lacks the key quantization_config.bits"),
        ({"quant_method": "awq", "bits": 3}, "quantization_config.bits is 3; one of 4, 8 is due"),
        ({"quant_method": "modelopt", "quant_algo": "FP3"}, 'quant_algo is "FP3"; one of FP8'),
        ({"quant_method": "compressed-tensors"}, "lacks the key quantization_config.config_groups"),
        ({"bits": 4}, "lacks the key quantization_config.quant_method"),
    ],
)
def test_unknown_quantisation(tmp_path: Path, quantization: dict[str, Any], words: str) -> None:
    with pytest.raises(BadFile) as refused:
        model_row(written(tmp_path, config_of("llama-3.1-8b") | {"quantization_config": quantization}), name="a")
    assert words in str(refused.value)


def test_two_formats_in_one_file(tmp_path: Path) -> None:
    groups = {"a": {"weights": {"num_bits": 8, "type": "float"}}, "b": {"weights": {"num_bits": 4, "type": "int"}}}
    tree = config_of("llama-3.1-8b") | {"quantization_config": {"quant_method": "compressed-tensors", "config_groups": groups}}
    with pytest.raises(BadFile, match="one number format for all groups instead of fp8, int4-gptq"):
        model_row(written(tmp_path, tree), name="a")


def test_what_has_no_columns_is_refused(tmp_path: Path) -> None:
    tree = config_of("gemma-4-31b")
    tree["text_config"] |= {"num_kv_shared_layers": 20, "hidden_size_per_layer_input": 256}
    tree["audio_config"] = {"hidden_size": 1024}
    with pytest.raises(BadFile) as refused:
        model_row(written(tmp_path, tree), name="a")
    for word in ("num_kv_shared_layers is 20", "hidden_size_per_layer_input is 256", "audio_config"):
        assert word in str(refused.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_attention_heads": 33}, "33 attention heads do not divide the hidden width 4096"),
        ({"layer_types": ["full_attention"] * 3}, None),
        ({"max_position_embeddings": True}, "max_position_embeddings is true; a whole number"),
    ],
)
def test_what_does_not_go_together(tmp_path: Path, change: dict[str, Any], words: str | None) -> None:
    if words is None:
        tree = config_of("qwen3-32b") | change
        words = "layer_types has 3 entries; one for each of the 64 layers is due"
    else:
        tree = config_of("llama-3.1-8b") | change
    with pytest.raises(BadFile) as refused:
        model_row(written(tmp_path, tree), name="a")
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "line 1 column 1"),
        (b"{", "valid JSON is due"),
        (b"[1]", "holds no object"),
        (b'{"a": NaN}', "NaN is no number of JSON"),
        (b'{"a": 1, "a": 2}', "the key 'a' stands twice"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "strict JSON is due"),
        (b" " * (MAX_CONFIG_BYTES + 1), f"at most {MAX_CONFIG_BYTES} are read"),
    ],
)
def test_files_that_are_no_configuration(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(BadFile) as refused:
        model_row(path, name="a")
    assert words in str(refused.value)


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(BadFile, match="no such file"):
            model_row(path, name="a")


def test_index_must_be_one(tmp_path: Path) -> None:
    config = written(tmp_path, config_of("llama-3.1-8b"))
    for tree, words in (
        ({}, "index.json lacks the keys metadata, metadata.total_size"),
        ({"metadata": {}}, "metadata.total_size"),
        ({"metadata": {"total_size": "big"}}, 'total_size is "big"'),
        ({"metadata": {"total_size": 1000}}, "too few for the embedding"),
    ):
        with pytest.raises(BadFile) as refused:
            model_row(config, index=written(tmp_path, tree, "index.json"), name="a")
        assert words in str(refused.value), json.dumps(tree)


def test_a_name_is_due(tmp_path: Path) -> None:
    tree = config_of("llama-3.1-8b")
    with pytest.raises(BadFile, match="--name"):
        model_row(written(tmp_path, tree))
    with pytest.raises(BadFile, match="no repository"):
        model_row(written(tmp_path, tree | {"_name_or_path": "/data/out/checkpoint-500"}))
    row = model_row(written(tmp_path, tree | {"_name_or_path": "meta-llama/Llama-3.1-8B"}))
    assert (row["model"], row["hf_id"]) == ("Llama-3.1-8B", "meta-llama/Llama-3.1-8B")
