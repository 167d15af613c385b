"""The chart of the mail as a PNG, and what it shows in words.

Here: matplotlib, loaded only when a mail is made. Not here: which chart it is (`content`).
"""

from __future__ import annotations

import io

from gpuecon_xl.errors import BadFile
from gpuecon_xl.report.content import Plot
from gpuecon_xl.report.speech import Speech

_NAVY, _BAR, _GREY = "#17365D", "#1F4E79", "#595959"
_WIDTH_IN, _ROW_IN, _DPI = 4.4, 0.25, 220  # shown 480 px wide at most, drawn twice as fine
_LONG = 30  # a longer name is cut


def ready() -> None:
    """Raise in one sentence when matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BadFile("the chart in a mail needs matplotlib, which is not installed; pip install 'gpuecon_xl[mail]' brings it") from None


def _bars(plot: Plot) -> list[tuple[str, float]]:
    name, value = plot.table.at(plot.categories), plot.table.at(plot.series[0])
    return [(str(r[name].value), number) for r in plot.table.rows if (number := r[value].number) is not None]


def png(plot: Plot, speech: Speech) -> bytes:
    """A bar chart with its figures written beside the bars."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    bars = _bars(plot)
    kind = plot.table.columns[plot.table.at(plot.series[0])].kind
    with rc_context({"font.family": ["DejaVu Sans"], "text.parse_math": False}):
        figure = Figure(figsize=(_WIDTH_IN, 0.95 + _ROW_IN * max(len(bars), 1)), dpi=_DPI, facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        names = [n if len(n) <= _LONG else n[: _LONG - 1] + "…" for n, _ in bars]
        axes.barh(range(len(bars)), [v for _, v in bars], color=_BAR, height=0.62)
        axes.set_yticks(range(len(bars)), names, fontsize=8)
        axes.invert_yaxis()
        top = max((v for _, v in bars), default=1.0) or 1.0
        for i, (_, v) in enumerate(bars):
            axes.text(v + top * 0.012, i, speech.number(v, kind), va="center", fontsize=8)
        axes.set_xlim(0, top * 1.14)
        axes.set_xticks([])
        for side in ("top", "right", "bottom"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
        axes.set_xlabel(plot.y_title, fontsize=8, color=_GREY, loc="left")
        figure.suptitle(plot.title, fontsize=11, fontweight="bold", color=_NAVY, x=0.02, ha="left")
        figure.tight_layout(pad=0.8)
        out = io.BytesIO()
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def words(plot: Plot, speech: Speech) -> str:
    """The chart in words, for readers who do not see it."""
    kind = plot.table.columns[plot.table.at(plot.series[0])].kind
    rows = "; ".join(f"{n} {speech.number(v, kind)}" for n, v in _bars(plot))
    return speech("chart_alt", title=f"{plot.title}, {plot.y_title}", rows=rows)
