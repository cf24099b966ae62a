"""What many programs came to: so that a generator whose sites are all refused is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from eval.fuzz.compare import Outcome
from eval.tree_fix import by_code, by_reason

GROUPS = ("programs", "sites", "refused", "runtime")


class Tally:
    """Counts by group: programs by what they did, sites by rule and outcome, reasons.

    "refused" are the reasons of refusals in the source, "runtime" those while tracing.
    """

    def __init__(self, counts: Mapping[str, Mapping[str, int]] | None = None) -> None:
        self.counts = {group: Counter((counts or {}).get(group, {})) for group in GROUPS}

    def add(self, outcome: Outcome) -> None:
        """Count a program that was compared."""
        findings = [finding.to_json() for finding in outcome.findings]
        mended = sum(finding["status"] == "fixed" for finding in findings)
        programs = self.counts["programs"]
        programs["run"] += 1
        programs["with a site"] += bool(findings)
        programs["with a mended site"] += bool(mended)
        programs["with an exception"] += outcome.raised
        programs["captured whole"] += outcome.whole
        programs["changed by torch.compile alone"] += outcome.torch_differs
        programs["with a difference"] += outcome.difference is not None
        for code, counts in by_code(findings).items():
            self.counts["sites"].update({f"{code} {what}": n for what, n in counts.items()})
        self.counts["sites"]["mended, in programs captured whole"] += mended * outcome.whole
        self.counts["refused"].update(by_reason(findings))
        self.counts["runtime"].update(outcome.refused)

    def merge(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Add the counts of another tally."""
        for group, other in counts.items():
            self.counts[group].update(other)
