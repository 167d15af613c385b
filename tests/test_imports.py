"""A function call in a spreadsheet must not wait for heavy libraries: what the scalar path loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GLM = str(Path(__file__).resolve().parent / "data" / "configs" / "glm-5.json")
HEAVY = ("numpy", "pandas", "openpyxl", "xlsxwriter", "xlwings", "rich")


def _loaded(code: str) -> set[str]:
    """Heavy libraries that a fresh interpreter has loaded after `code`."""
    script = f"{code}\nimport sys\nprint(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import gpuecon_xl",
        "import gpuecon_xl as gx; gx.tco3y('RTX 5090')",
        "import gpuecon_xl as gx; gx.tokps('Llama 3.1 8B', 'RTX 5090', 'fp8', 8)",
        "import gpuecon_xl as gx; gx.fits('Llama 3.1 8B', 'RTX 5090', options='kv=fp8')",
        "import gpuecon_xl as gx; gx.cost_per_mtok('Llama 3 8B', 'L4', 'fp8', 64, options={'tok_s': 650})",
        "import gpuecon_xl as gx; gx.breakeven_util('Llama 3.1 8B', 'RTX 5090', 0.6, 'fp8')",
        "import gpuecon_xl as gx; gx.predict('Llama 3.1 8B', 'RTX 5090', 'fp8', batch=None, gpus=2)",
        "import gpuecon_xl as gx; gx.load_catalog().find('gpus', 'L4')",
        "import gpuecon_xl as gx; gx.price_of('L4', catalog=[['gpu', 'typical'], ['L4', 2000]])",
        f"from pathlib import Path; from gpuecon_xl.huggingface import command, row; row.model_row(Path({GLM!r}), name='x1')",
        "import gpuecon_xl as gx; gx.rent3y(1.8), gx.vram_rule_gb(70), gx.blended_price(2, 10)",
    ],
)
def test_scalar_path_is_light(code: str) -> None:
    assert _loaded(code) == set()


def test_arrays_load_numpy_only() -> None:
    assert _loaded("import gpuecon_xl as gx; gx.tco3y(['L4', 'RTX 5090'])") == {"numpy"}


def test_frames_load_pandas() -> None:
    assert "pandas" in _loaded("import gpuecon_xl as gx; gx.load_catalog().frame('prices')")
