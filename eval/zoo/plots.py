"""Bars of breaks by category and by site, before and after mending."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.zoo import groups

_BEFORE, _AFTER = "#9aa5b1", "#2f6f9f"
_MOST_SITES = 25


def write(folder: Path, library: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write both plots as SVG, byte for byte the same for the same rows."""
    by_category = {
        category: (models, left)
        for category, (_, _, models, left) in groups.categories(rows).items()
    }
    by_site = {
        f"{Path(site.path).name}:{site.line}": (len(site.before), len(site.after))
        for site in groups.sites(rows)[:_MOST_SITES]
    }
    about = f"{library}, {len(rows)} of {rows[0]['key']['of']} architectures"
    _bars(folder / f"zoo-{library}-categories.svg", by_category, f"Breaks by category: {about}")
    _bars(folder / f"zoo-{library}-sites.svg", by_site, f"Breaks by site: {about}")


def _bars(path: Path, values: dict[str, tuple[int, int]], title: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    style = {"svg.hashsalt": path.name, "svg.fonttype": "none"}
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.4 * max(len(values), 1)))
        places = range(len(values))
        for shift, label, colour in ((-0.2, "before", _BEFORE), (0.2, "after", _AFTER)):
            widths = [pair[label == "after"] for pair in values.values()]
            axes.barh([p + shift for p in places], widths, 0.38, label=label, color=colour)
        axes.set_yticks(list(places), list(values))
        axes.invert_yaxis()
        axes.set_xlabel("architectures that break there")
        axes.set_title(title, fontsize=10)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(loc="upper right", bbox_to_anchor=(0, 0), frameon=False)
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
