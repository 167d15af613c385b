"""The number format of a checkpoint: a precision of ``catalog/precisions.csv`` from a config.json.

Here: what `quantization_config` of each method means, else the data type. Not here: bytes of a format (the catalogue).
"""

from __future__ import annotations

from typing import Any

from gpuecon_xl.huggingface.configuration import Config

_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_FOUR, _EIGHT = 4, 8  # bits of a weight
_METHODS = ("awq", "gptq", "gptqmodel", "fp8", "fbgemm_fp8", "compressed-tensors", "modelopt", "mxfp4", "nvfp4", "bitsandbytes", "quark", "exl3")
_SCALE_GROUPS = {16: "nvfp4", 32: "mxfp4"}  # values that share a scale
_EIGHT_BIT = {"float": "fp8", "int": "int8"}


def number_format(top: Config, text: Config) -> str:
    """The name of the precision; a problem is noted where there is none."""
    for c in (top, text):
        for key in ("quantization_config", "compression_config"):
            if c.has(key):
                return _quantised(c.child(key))
    given = next((v for c in (top, text) if (v := c.value("torch_dtype", "dtype")) is not None), None)
    if given is None:
        top.findings.lacks("torch_dtype or quantization_config")
        return ""
    if str(given) not in _TYPES:
        top.findings.wrong(f"torch_dtype is {str(given)[:40]!r}; one of {', '.join(_TYPES)} or a quantization_config is due")
    return _TYPES.get(str(given), "")


def _quantised(q: Config) -> str:
    own = not q.has("quant_method") and (q.has("quant_algo") or q.has("quantization"))
    method = "modelopt" if own else q.text("quant_method")
    if method in ("fp8", "fbgemm_fp8"):
        return "fp8"
    if method in ("mxfp4", "nvfp4"):
        return method
    if method == "awq":
        return _by_bits(q, "bits", {_FOUR: "int4-awq", _EIGHT: "int8"})
    if method in ("gptq", "gptqmodel"):
        return _by_bits(q, "bits", {_FOUR: "int4-gptq", _EIGHT: "int8"})
    if method == "bitsandbytes":
        if q.value("load_in_4bit") or q.value("_load_in_4bit"):
            return "int4-awq"
        return "int8" if q.flag("load_in_8bit") else _unknown(q, "load_in_8bit", "true, or load_in_4bit,")
    if method == "compressed-tensors":
        return _compressed(q)
    if method == "modelopt":
        return _modelopt(q)
    if method == "quark":
        return _quark(q)
    if method == "exl3":
        return f"exl3-{q.number('bits'):.1f}bpw"
    return _unknown(q, "quant_method", f"one of {', '.join(_METHODS)}") if method else ""


def _unknown(q: Config, key: str, due: str) -> str:
    q.wrong(key, due)
    return ""


def _by_bits(q: Config, key: str, names: dict[int, str]) -> str:
    bits = q.count(key)
    return names.get(bits) or (_unknown(q, key, f"one of {', '.join(map(str, names))}") if q.has(key) else "")


def _compressed(q: Config) -> str:
    packed = str(q.value("format") or "")
    groups = q.child("config_groups")
    found = {_group(groups.child(name), packed) for name in groups.tree}
    found.discard("")
    if len(found) > 1:
        return _unknown(q, "config_groups", f"one number format for all groups instead of {', '.join(sorted(found))}")
    if not groups.tree and q.has("config_groups"):
        q.wrong("config_groups", "a group with weights")
    return next(iter(found), "")


def _group(group: Config, packed: str) -> str:
    packed = str(group.value("format") or packed)
    for name in ("nvfp4", "mxfp4"):
        if packed.startswith(name):
            return name
    weights = group.child("weights")
    bits, kind = weights.count("num_bits"), weights.text("type")
    if bits == _EIGHT and kind in _EIGHT_BIT:
        return _EIGHT_BIT[kind]
    if bits == _FOUR and kind == "int":
        return "int4-gptq"
    if bits == _FOUR and kind == "float":
        return _by_bits_of_scale(weights)
    if weights.has("num_bits") and weights.has("type"):
        weights.wrong("num_bits", "4 or 8 bits of the type int or float")
    return ""


def _by_bits_of_scale(weights: Config) -> str:
    """4-bit floats: NVIDIA's carry a scale for each 16 values, the open standard's for each 32."""
    size = weights.count("group_size")
    return _SCALE_GROUPS.get(size) or (_unknown(weights, "group_size", "16 (nvfp4) or 32 (mxfp4)") if weights.has("group_size") else "")


def _modelopt(q: Config) -> str:
    algo = q.text("quant_algo").upper() if q.has("quant_algo") else q.child("quantization").text("quant_algo").upper()
    names = {"FP8": "fp8", "FP8_PB_WO": "fp8", "FP8_PER_CHANNEL_PER_TOKEN": "fp8", "NVFP4": "nvfp4", "NVFP4_AWQ": "nvfp4", "MXFP4": "mxfp4",
             "W4A16_AWQ": "int4-awq", "INT4_AWQ": "int4-awq", "INT8_SQ": "int8", "W8A8_SQ_PER_CHANNEL": "int8"}  # fmt: skip
    return names.get(algo) or (_unknown(q, "quant_algo", f"one of {', '.join(names)}") if algo else "")


def _quark(q: Config) -> str:
    weight: Any = q.child("global_quant_config").value("weight")
    first = weight[0] if isinstance(weight, list) and weight else weight
    kind = str(first.get("dtype")) if isinstance(first, dict) else ""
    names = {"fp4": "mxfp4", "fp8_e4m3": "fp8", "int8": "int8", "int4": "int4-awq", "uint4": "int4-awq"}
    if kind not in names:
        q.findings.wrong(f"{q.prefix}global_quant_config.weight.dtype is {kind[:40]!r}; one of {', '.join(names)} is due")
    return names.get(kind, "")
