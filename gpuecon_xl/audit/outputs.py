"""Findings as files: SARIF 2.1.0 for code scanners, a list of what to type where.

Here: the forms. Not here: what was found (`whole`), writing and printing (`command`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuecon_xl import __version__
from gpuecon_xl.audit.findings import LEVELS, Finding
from gpuecon_xl.audit.whole import Audit
from gpuecon_xl.lang import load

SARIF_VERSION = "2.1.0"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(audit: Audit) -> dict[str, Any]:
    """The findings as a SARIF log: one run, one rule for each kind, sheet and cell as a logical location."""
    texts = load(audit.lang)
    kinds = list(LEVELS)
    rules = [
        {"id": k, "shortDescription": {"text": texts(f"audit.kind_{k}")}, "defaultConfiguration": {"level": level}} for k, level in LEVELS.items()
    ]

    def result(f: Finding) -> dict[str, Any]:
        return {
            "ruleId": f.kind,
            "ruleIndex": kinds.index(f.kind),
            "level": f.level,
            "message": {"text": f"{f.text} {texts('audit.due')}: {f.due}"},
            "locations": [
                {
                    "physicalLocation": {"artifactLocation": {"uri": _uri(audit.path)}},
                    "logicalLocations": [{"fullyQualifiedName": f.place, "name": f.cell or f.sheet, "kind": "element" if f.cell else "module"}],
                }
            ],
            "partialFingerprints": {"kindAndPlace": f"{f.kind}/{f.place}"},
            "properties": {"sheet": f.sheet, "cell": f.cell, "count": f.count, "due": f.due},
        }

    run = {
        "tool": {"driver": {"name": "gpuecon check", "version": __version__, "rules": rules}},
        "artifacts": [{"location": {"uri": _uri(audit.path)}}],
        "columnKind": "utf16CodeUnits",
        "results": [result(f) for f in (*audit.findings, *audit.notes)],
    }
    return {"$schema": SARIF_SCHEMA, "version": SARIF_VERSION, "runs": [run]}


def _uri(path: Path) -> str:
    from urllib.parse import quote

    return quote(path.as_posix())


def fix_list(audit: Audit) -> list[str]:
    """What to put where, a line for each finding: place, tab, what it should be; notes are left out."""
    lines = []
    for f in audit.findings:
        more = f" (x{f.count})" if f.count > 1 else ""
        lines.append(f"{f.place}{more}\t{f.due}")
    return lines
