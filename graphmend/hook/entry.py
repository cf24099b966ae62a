"""What is stored of one mended module."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from graphmend.findings import Category, Edit, Finding, Grade, Status


@dataclass(frozen=True, slots=True)
class Entry:
    """The outcome for one source text: the edits (none where nothing is mended), the findings."""

    edits: tuple[Edit, ...]
    findings: tuple[Finding, ...]

    def to_bytes(self) -> bytes:
        """The entry as JSON."""
        document = {
            "edits": [asdict(edit) for edit in self.edits],
            "findings": [finding.to_json() for finding in self.findings],
        }
        return json.dumps(document).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Entry:
        """The entry that `to_bytes` wrote; ValueError, TypeError or KeyError for anything else."""
        document = json.loads(data)
        return cls(
            tuple(Edit(**fields) for fields in document["edits"]),
            tuple(_finding(fields) for fields in document["findings"]),
        )


def _finding(fields: dict[str, Any]) -> Finding:
    grade = fields["grade"]
    return Finding(
        **{
            **fields,
            "category": Category(fields["category"]),
            "status": Status(fields["status"]),
            "grade": None if grade is None else Grade(grade),
        }
    )
