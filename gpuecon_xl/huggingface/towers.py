"""Vision towers: parameters of the encoder with its projector, and the tokens that one image becomes.

Here: one function for each `model_type` that has a tower, and the table `TOWERS`. Not here: the decoder (`families`).
A tower's column ``tokens_image`` counts a square image of `IMAGE_SIDE` pixels, as all of ``models.csv`` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gpuecon_xl.huggingface.blocks import GATED_MATS, PLAIN_MATS, QUERY_KEY_VALUE, WEIGHT_AND_BIAS, attention, linear, mlp
from gpuecon_xl.huggingface.configuration import Config

IMAGE_SIDE = 1024  # pixels of the image that tokens_image counts
NORMS = 2  # before attention and before the feed-forward block
GEMMA_NORMS = 4
LLAMA4_TILES = 16  # most tiles of an image (preprocessor_config.json of meta-llama/Llama-4-Scout-17B-16E-Instruct)
BOTH_AXES = 2  # a table of positions for each axis of an image
QUERY_AND_KEY = 2

Tower = Callable[[Config, Config, int], tuple[int, int]]  # whole file, vision_config, hidden width of the decoder


def _encoder_layer(hidden: int, ffn: int, mats: int, *, norm_parts: int, bias: bool, mlp_bias: bool) -> int:
    attn = linear(hidden, QUERY_KEY_VALUE * hidden, bias) + linear(hidden, hidden, bias)
    return attn + mlp(hidden, ffn, mats, mlp_bias) + NORMS * norm_parts * hidden


def _layer_norm_encoder(hidden: int, ffn: int, depth: int) -> int:
    return depth * _encoder_layer(hidden, ffn, PLAIN_MATS, norm_parts=WEIGHT_AND_BIAS, bias=True, mlp_bias=True)


def _patch(v: Config, hidden: int, channels: int, bias: bool) -> int:
    return linear(channels * v.count("patch_size") ** BOTH_AXES, hidden, bias)


def _rounded_side(v: Config) -> int:
    """Tokens on a side where the image is resized to the nearest whole patches."""
    return max(round(IMAGE_SIDE / (v.count("patch_size") * v.count("spatial_merge_size"))), 1)


def _merger(merged: int, out: int) -> int:
    return linear(merged, merged, bias=True) + linear(merged, out, bias=True)


def _qwen3(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    hidden, ffn, depth = v.count("hidden_size"), v.count("intermediate_size"), v.count("depth")
    merged, out = hidden * v.count("spatial_merge_size") ** BOTH_AXES, v.count("out_hidden_size")
    patch = _patch(v, hidden, v.count("in_channels", "in_chans") * v.count("temporal_patch_size"), bias=True)
    taps = len(v.items("deepstack_visual_indexes") or [])
    mergers = WEIGHT_AND_BIAS * hidden + _merger(merged, out) + taps * (WEIGHT_AND_BIAS * merged + _merger(merged, out))
    positions = v.count("num_position_embeddings") * hidden
    return patch + positions + _layer_norm_encoder(hidden, ffn, depth) + mergers, _rounded_side(v) ** BOTH_AXES


def _qwen2(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    hidden, depth = v.count("embed_dim"), v.count("depth")
    merged = hidden * v.count("spatial_merge_size") ** BOTH_AXES
    patch = _patch(v, hidden, v.count("in_channels", "in_chans") * v.count("temporal_patch_size"), bias=False)
    layers = _layer_norm_encoder(hidden, int(hidden * v.number("mlp_ratio")), depth)
    return patch + layers + WEIGHT_AND_BIAS * hidden + _merger(merged, v.count("hidden_size")), _rounded_side(v) ** BOTH_AXES


def _qwen2_5(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    hidden, ffn, depth = v.count("hidden_size"), v.count("intermediate_size"), v.count("depth")
    merged = hidden * v.count("spatial_merge_size") ** BOTH_AXES
    patch = _patch(v, hidden, v.count("in_channels", "in_chans") * v.count("temporal_patch_size"), bias=False)
    layers = depth * _encoder_layer(hidden, ffn, GATED_MATS, norm_parts=1, bias=True, mlp_bias=True)
    return patch + layers + hidden + _merger(merged, v.count("out_hidden_size")), _rounded_side(v) ** BOTH_AXES


def _mistral3(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    hidden, ffn, depth = v.count("hidden_size"), v.count("intermediate_size"), v.count("num_hidden_layers")
    merge = top.count("spatial_merge_size")
    layers = depth * _encoder_layer(hidden, ffn, GATED_MATS, norm_parts=1, bias=False, mlp_bias=False)
    tower = _patch(v, hidden, v.count("num_channels"), bias=False) + hidden + layers
    bias = top.flag("multimodal_projector_bias")
    projector = hidden + linear(hidden * merge**BOTH_AXES, hidden) + linear(hidden, text_hidden, bias) + linear(text_hidden, text_hidden, bias)
    side = math.ceil(IMAGE_SIDE / (v.count("patch_size") * merge))
    return tower + projector, side * (side + 1)  # each row ends in a token of its own


def _gemma3(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    hidden, ffn, depth = v.count("hidden_size"), v.count("intermediate_size"), v.count("num_hidden_layers")
    positions = (v.count("image_size") // v.count("patch_size")) ** BOTH_AXES
    tower = _patch(v, hidden, v.count("num_channels"), bias=True) + positions * hidden + _layer_norm_encoder(hidden, ffn, depth)
    return tower + WEIGHT_AND_BIAS * hidden + linear(hidden, text_hidden) + hidden, top.count("mm_tokens_per_image")


def _gemma4(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    if top.has("audio_config"):
        top.findings.wrong("audio_config is given; a model without an audio tower is due, none is known to models.csv")
    hidden, heads, width = v.count("hidden_size"), v.count("num_attention_heads"), v.count("head_dim")
    one = attention(hidden, heads, v.count("num_key_value_heads"), width) + QUERY_AND_KEY * width + GEMMA_NORMS * hidden
    layers = v.count("num_hidden_layers") * (one + mlp(hidden, v.count("intermediate_size"), GATED_MATS))
    positions = BOTH_AXES * v.count("position_embedding_size") * hidden
    most = top.count("vision_soft_tokens_per_image")  # a square image takes the largest square below
    return _patch(v, hidden, v.count("in_channels"), bias=False) + positions + layers + linear(hidden, text_hidden), math.isqrt(most) ** BOTH_AXES


def _llama4(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    hidden, ffn, depth, side = v.count("hidden_size"), v.count("intermediate_size"), v.count("num_hidden_layers"), v.count("image_size")
    on_side = side // v.count("patch_size")
    positions = (on_side**BOTH_AXES + 1) * hidden  # and one for the class embedding
    tower = _patch(v, hidden, v.count("num_channels"), bias=False) + hidden + positions + _layer_norm_encoder(hidden, ffn, depth)
    tower += NORMS * WEIGHT_AND_BIAS * hidden
    out = v.count("projector_output_dim")
    adapter = linear(ffn, v.count("projector_input_dim")) + linear(out, out)
    tiles = min(math.ceil(IMAGE_SIDE / side) ** BOTH_AXES, LLAMA4_TILES) + 1  # and the whole image, small
    tokens = tiles * int(on_side * v.number("pixel_shuffle_ratio")) ** BOTH_AXES
    return tower + adapter + linear(v.count("vision_output_dim"), text_hidden), tokens


def _mllama(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    hidden, ffn, tiles = v.count("hidden_size"), v.count("intermediate_size"), v.count("max_num_tiles")
    tokens = (v.count("image_size") // v.count("patch_size")) ** BOTH_AXES + 1  # and the class embedding
    ratios = len(v.items("supported_aspect_ratios") or []) + 1  # and one for none
    if not v.has("supported_aspect_ratios"):
        v.findings.lacks(f"{v.prefix}supported_aspect_ratios")
    positions = 1 + tokens * hidden + ratios * tiles * tokens * hidden  # a gate, positions, positions of each tile
    around = NORMS * (ratios * tiles * hidden + 1) + NORMS * WEIGHT_AND_BIAS * hidden  # before and after the layers
    local, whole = v.count("num_hidden_layers"), v.count("num_global_layers", least=0)
    one = _encoder_layer(hidden, ffn, PLAIN_MATS, norm_parts=WEIGHT_AND_BIAS, bias=False, mlp_bias=True)
    tower = _patch(v, hidden, v.count("num_channels"), bias=False) + hidden + positions + around + (local + whole) * one + whole * NORMS
    return tower + linear(v.count("vision_output_dim"), text_hidden, bias=True), tiles * tokens


def _kimi(top: Config, v: Config, text_hidden: int) -> tuple[int, int]:
    hidden, ffn, depth = v.count("vt_hidden_size"), v.count("vt_intermediate_size"), v.count("vt_num_hidden_layers")
    positions = v.count("init_pos_emb_height") * v.count("init_pos_emb_width") * hidden
    kernel = v.items("merge_kernel_size", BOTH_AXES)
    if kernel is None or not all(isinstance(k, int) and k > 0 for k in kernel):
        v.wrong("merge_kernel_size", "a list of two whole numbers")
        kernel = [1, 1]
    merged = hidden * kernel[0] * kernel[1]
    tower = _patch(v, hidden, v.count("in_channels"), bias=True) + positions + _layer_norm_encoder(hidden, ffn, depth) + WEIGHT_AND_BIAS * hidden
    projector = WEIGHT_AND_BIAS * v.count("mm_hidden_size") + _merger(merged, v.count("text_hidden_size"))
    return tower + projector, math.ceil(IMAGE_SIDE / (v.count("patch_size") * kernel[0])) ** BOTH_AXES


TOWERS: dict[str, Tower] = {
    "qwen2_vl": _qwen2,
    "qwen2_5_vl": _qwen2_5,
    "qwen3_vl": _qwen3,
    "qwen3_vl_moe": _qwen3,
    "qwen3_5": _qwen3,
    "qwen3_5_moe": _qwen3,
    "mistral3": _mistral3,
    "gemma3": _gemma3,
    "gemma4": _gemma4,
    "llama4": _llama4,
    "kimi_k25": _kimi,
    "mllama": _mllama,
}
