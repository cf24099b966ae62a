"""What mending did to the code that ran, and why a site still breaks, by what the hook said."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def with_refusals(counts: Json | None, hook: Json | None) -> Json | None:
    """The counts with a `refused` in each site: graphmend's reason, None where it gave none.

    None means that graphmend did not see the site, or took it for one that cannot be reached.
    """
    if counts is None:
        return None
    refused = {(r["path"], r["line"]): r for r in (hook or {}).get("refused", [])}
    return {**counts, "sites": [_explained(site, refused) for site in counts["sites"]]}


def _explained(site: Json, refused: dict[tuple[str, int], Json]) -> Json:
    found = refused.get((site["path"], site["line"]))
    return {**site, "refused": f"{found['code']}, {found['reason']}" if found else None}


def mend_of(original: Json, mended: Json) -> Json:
    """What mending really changed, from the code that ran, and what the hook says about it."""
    before, after = original.get("code", {}), mended.get("code", {})
    changed = sorted(name for name in before.keys() & after.keys() if before[name] != after[name])
    return {
        "inert": not changed,
        "modules": changed,
        "error": mended.get("mend_error"),
        "hook": summary(mended.get("hook")),
    }


def summary(hook: Json | None) -> Json | None:
    """What the hook did, short enough to keep with every row."""
    if hook is None:
        return None
    return {
        "mended": {module: len(sites) for module, sites in hook["mended"].items()},
        "refused": len(hook["refused"]),
        **{key: hook[key] for key in ("skipped", "failed", "deferral")},
    }
