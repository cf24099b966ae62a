"""The places in the source at which Dynamo ended a graph, and why."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

# Dynamo's words for a break, and the published survey's category for it. A call that Dynamo skips
# can be anything, so there the source line has to say that it is output or an assert.
_CATEGORIES = (
    (r"logging\.Logger|logger", "LC"),
    (r"assert|torch\._check", "VG"),
    (r"Data-dependent branching|generic_jump", "DC"),
    (r"Dynamic shape operator", "DS"),
    (r"Data dependent operator", "DO"),
    (r"\.item\(\)|tolist|scalar", "TI"),
)
_OUTPUT_LINE = re.compile(r"\b(warnings\.warn|warn|print|logger\.\w+|log\.\w+)\s*\(")
UNKNOWN = "?"
Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Site:
    """A source line that ended a graph. `path` is relative to the folder of installed packages."""

    path: str
    line: int
    function: str
    text: str
    category: str
    reason: str

    def to_json(self) -> Json:
        """The site as JSON-able data."""
        return asdict(self)


def site_of(reason: str, user_stack: Sequence[traceback.FrameSummary]) -> Site:
    """The innermost frame of a break. The function of a resumed frame is the one it resumes."""
    frame = user_stack[-1]
    first_line = reason.strip().splitlines()[0]
    text = (frame.line or "").strip()
    return Site(
        path=relative(frame.filename),
        line=frame.lineno or 0,
        function=re.sub(r"^torch_dynamo_resume_in_(.*)_at_\d+$", r"\1", frame.name),
        text=text,
        category=category_of(first_line, text),
        reason=first_line,
    )


def counted_sites(reasons: Iterable[tuple[str, Sequence[traceback.FrameSummary]]]) -> list[Json]:
    """Each place that ended a graph, with how often it did, most often first."""
    sites = Counter(site_of(reason, stack) for reason, stack in reasons)
    return [{**site.to_json(), "count": n} for site, n in sites.most_common()]


def relative(path: str) -> str:
    """A path without the folder of installed packages that it lies in."""
    return re.split(r"[/\\]site-packages[/\\]", path)[-1]


def category_of(reason: str, text: str) -> str:
    """The published category of a break from Dynamo's reason and the source line."""
    for pattern, category in _CATEGORIES:
        if re.search(pattern, reason):
            return category
    if text.startswith("assert "):
        return "VG"
    return "LC" if _OUTPUT_LINE.search(text) else UNKNOWN
