"""A row of ``models.csv``: shape, number format and names of one model; written as CSV, or into a person's own file.

Here: from the configuration file to the row, and from the row to the file. Not here: which keys mean what (`families`).
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpuecon_xl.catalog import Row, key_of, parse_cell, read_table, shipped, summed_up
from gpuecon_xl.errors import BadFile, nearest
from gpuecon_xl.huggingface.configuration import Config, Findings, Tree, published_defaults, read_json
from gpuecon_xl.huggingface.families import FAMILIES
from gpuecon_xl.huggingface.formats import number_format
from gpuecon_xl.huggingface.shape import Shape
from gpuecon_xl.huggingface.towers import TOWERS
from gpuecon_xl.schema import TABLES
from gpuecon_xl.units import BYTES_16_BIT, GIGA, MIB

MAX_INDEX_BYTES = 64_000_000  # the longest published ones, a line for each tensor of hundreds of experts, have about 10 MB
INDEX_AGREES = 0.02  # an index that differs by more from the architecture is said in the note
_STATE_DIGITS = 4
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_FORMULA = "=+-@"  # what a spreadsheet that opens the CSV would take for the start of a formula
_MODELS = TABLES["models"]


def model_row(config: Path, *, index: Path | None = None, name: str | None = None, aliases: str | None = None, source: str | None = None) -> Row:
    """The row that a model's configuration file gives, as the catalogue holds it.

    Parameters
    ----------
    config : the model's config.json, a local file.
    index : its model.safetensors.index.json, for the exact bytes.
    name : what the model is called; an owner/name is also its repository. None: the name in the file.
    aliases : other names, separated by ``|``.
    source : where the file comes from, an address.

    Raises
    ------
    BadFile
        Naming every key that is missing and every value that cannot be used, all at once.
    """
    tree = _with_format(read_json(config), config)
    findings = Findings()
    shape, family, precision = _shape(tree, findings)
    title, repository = _names(tree, name, findings)
    others = _aliases(aliases, findings)
    if source is not None and (not source.strip() or not source.isprintable() or source.strip()[0] in _FORMULA):
        findings.wrong(f"--source is {source[:60]!r}; an address is due")
    total = _total_size(index, findings) if index is not None else None
    problems = findings.sentences()
    if problems:
        raise BadFile(summed_up(str(config), problems), problems)
    params = shape.params
    notes = [f"from a local config.json, model_type {family}", *shape.notes]
    if total is not None:
        params = _params_of_bytes(total, shape, precision, config)
        notes.append(_index_note(total, params, shape))
    if tree.get("num_nextn_predict_layers") or _text_tree(tree).get("num_nextn_predict_layers") or _text_tree(tree).get("mtp_num_hidden_layers"):
        notes.append("multi-token prediction layers not counted" if total is None else "an index may count multi-token prediction layers")
    row = _columns(shape, params, precision) | {
        "model": title, "hf_id": repository, "aliases": " | ".join(others) or None, "family": family,
        "source": source.strip() if source else f"local file {config.name}" + (f" of {repository}" if repository else ""),
        "as_of": dt.date.today(), "confidence": "datasheet", "note": "; ".join(notes),
    }  # fmt: skip
    return {f.name: row.get(f.name) for f in _MODELS.fields}


def _with_format(tree: Tree, config: Path) -> Tree:
    """The file, with the number format that older checkpoints of NVIDIA's ModelOpt keep in a file beside it."""
    beside = config.with_name("hf_quant_config.json")
    if tree.get("quantization_config") is None and beside.is_file():
        return tree | {"quantization_config": read_json(beside)}
    return tree


def _text_tree(tree: Tree) -> Tree:
    text = tree.get("text_config")
    return text if isinstance(text, dict) else {}


def _shape(tree: Tree, findings: Findings) -> tuple[Shape, str, str]:
    """Shape, family and number format of a file; problems go into `findings`."""
    known = published_defaults()
    top = Config(tree, {}, findings)
    family = top.text("model_type")
    if family and family not in FAMILIES and family not in TOWERS:
        types = sorted({*FAMILIES, *TOWERS})
        findings.wrong(f"model_type is {family[:40]!r}, which is not known; one of {', '.join(types)} is due (nearest: {nearest(family, types)})")
    if family not in known:
        return Shape(1, 1, 1, 1, 1, 1, 1, 1), family, ""
    top.defaults = known[family]
    tower = TOWERS.get(family)
    nested = tower is not None and ("text_config" in tree or family not in FAMILIES)
    text = _text(top, findings) if nested else top
    builder = FAMILIES.get(text.text("model_type")) if text is not top else FAMILIES[family]
    if builder is None:
        if text.has("model_type"):
            types = sorted(FAMILIES)
            text.wrong("model_type", f"one of {', '.join(types)}")
        return Shape(1, 1, 1, 1, 1, 1, 1, 1), family, number_format(top, text)
    shape = builder(text)
    if tower is not None:
        shape.tower, shape.tokens_image = tower(top, top.child("vision_config", known[family].get("vision")), shape.hidden)
        shape.params += shape.tower
    return shape, family, number_format(top, text)


def _text(top: Config, findings: Findings) -> Config:
    """The decoder's own object in the file of a model with a tower; the whole file's word on tied embeddings counts."""
    text = top.child("text_config")
    defaults = dict(published_defaults().get(str(text.tree.get("model_type")), {}))
    if "tie_word_embeddings" not in text.tree or top.has("tie_word_embeddings"):
        defaults["tie_word_embeddings"] = top.value("tie_word_embeddings")
        text = Config({k: v for k, v in text.tree.items() if k != "tie_word_embeddings"}, defaults, findings, text.prefix)
    text.defaults = defaults
    return text


# ------------------------------------------------------------------------------------------------ names


def _names(tree: Tree, name: str | None, findings: Findings) -> tuple[str, str | None]:
    given = name if name is not None else tree.get("_name_or_path")
    text = given.strip() if isinstance(given, str) else ""
    if not text:
        findings.wrong("no name is known; --name with what the model is called, such as Qwen/Qwen3-32B, is due")
        return "", None
    if name is None and not _REPOSITORY.fullmatch(text):
        findings.wrong(f"_name_or_path is {text[:60]!r}, which is no repository; --name with what the model is called is due")
        return "", None
    repository = text if _REPOSITORY.fullmatch(text) else None
    title = text.rsplit("/", 1)[-1] if repository else text
    return _allowed(title, "--name", findings), repository


def _aliases(text: str | None, findings: Findings) -> list[str]:
    return [_allowed(a.strip(), "--aliases", findings) for a in (text or "").split("|") if a.strip()]


def _allowed(text: str, where: str, findings: Findings) -> str:
    if not text.isprintable() or re.search(r"[*?~|]", text) or text[0] in _FORMULA or not key_of(text):
        findings.wrong(f"{where} is {text[:60]!r}; a name of letters and digits, without * ? ~ | and with no = + - @ before it, is due")
    return text


# ------------------------------------------------------------------------------------------------ bytes of an index


def _total_size(path: Path, findings: Findings) -> int:
    tree = read_json(path, MAX_INDEX_BYTES)
    own = Findings("the model.safetensors.index.json of the checkpoint")
    total = Config(tree, {}, own).child("metadata").count("total_size", most=MIB * GIGA)
    for sentence in own.sentences():
        findings.wrong(f"{path.name} {sentence}")
    return total


def _params_of_bytes(total: int, s: Shape, precision: str, config: Path) -> int:
    """Parameters with which weights in a number format have the bytes that the index states.

    Embedding, head and routed experts follow from the shape; what is left is the rest of the model.
    """
    p = shipped().find("precisions", precision)
    embed = s.vocab * s.hidden * s.embed_copies
    experts = s.expert_mats * s.hidden * s.expert_ffn * s.experts * s.layers_moe
    rest = total - embed * p["bytes_embed"] - experts * p["bytes_weight"]
    if rest < 0:
        raise BadFile(f"{config}: the index states {total} bytes, too few for the embedding and experts of this configuration in {precision}; "
                      "the index of the same checkpoint is due")  # fmt: skip
    bytes_rest = float(p["bytes_nonexpert_moe"] if s.experts else p["bytes_weight"])
    return embed + experts + round(float(rest) / bytes_rest)


def _index_note(total: int, params: int, s: Shape) -> str:
    note = f"params_b from the {total} bytes of the safetensors index"
    if abs(params / s.params - 1) > INDEX_AGREES:
        note += f"; the architecture has {s.params / GIGA:.4g}e9"
    return note


# ------------------------------------------------------------------------------------------------ columns


def _columns(s: Shape, params: int, precision: str) -> Row:
    """Columns of numbers. As in all of ``models.csv``, a dense model's active parameters are all of them; those of a mixture of
    experts leave out idle experts and the vision tower."""
    active = params - s.idle - s.tower if s.experts else params
    named: Row = {f.name: getattr(s, f.name) for f in _MODELS.fields if hasattr(s, f.name)}
    named |= {
        "params_b": params / GIGA, "active_b": active / GIGA, "allreduces_layer": round(s.allreduces / s.layers, _STATE_DIGITS),
        "state_mib": round(s.state * BYTES_16_BIT / MIB, _STATE_DIGITS), "precision": shipped().find("precisions", precision)["precision"],
    }  # fmt: skip
    return {k: (v or None) if isinstance(v, int | float) and not _MODELS.by_name[k].required else v for k, v in named.items()}


def csv_text(rows: list[Mapping[str, Any]], header: list[str], with_header: bool = True, newline: str = "\n") -> str:
    """Rows as the text of a CSV file."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator=newline)
    if with_header:
        writer.writerow(header)
    writer.writerows([[_cell(row.get(name)) for name in header] for row in rows])
    return made.getvalue()


def _cell(value: Any) -> Any:
    """A value as the catalogue writes it: nothing for None, 2 for 2.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return "" if value is None else value


def header_row() -> list[str]:
    """Columns of ``models.csv``."""
    return [f.name for f in _MODELS.fields]


def checked(row: Row, where: str) -> Row:
    """The row, when each of its values is one that the catalogue takes.

    Raises
    ------
    BadFile
        Naming every column that is not.
    """
    found = [(f.name, parse_cell(row[f.name], f)[1]) for f in _MODELS.fields]
    problems = [f"column {name} {problem}" for name, problem in found if problem]
    if problems:
        raise BadFile(summed_up(where, problems), problems)
    return row


def with_row(path: Path, row: Row) -> bytes:
    """The content of a person's own CSV file of models with one more row; a file that does not exist begins with a header.

    Raises
    ------
    BadFile
        When the file is no table of models, or has a row of that name.
    """
    if not path.exists():
        return csv_text([row], header_row()).encode()
    table, rows = read_table(path)
    if table is not _MODELS:
        raise BadFile(f"{path} holds the table {table.name}; a file of models is due")
    if any(key_of(str(r["model"])) == key_of(str(row["model"])) for r in rows):
        raise BadFile(f"{path} has a row {row['model']!r} already; another --name is due, or take that row out first")
    old = path.read_bytes()
    newline = "\r\n" if b"\r\n" in old else "\n"
    header = next(csv.reader(io.StringIO(old.decode("utf-8-sig"))))
    gap = "" if old.endswith(b"\n") else newline
    return old + (gap + csv_text([row], header, with_header=False, newline=newline)).encode()
