"""What the hook has done so far in this process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from graphmend.findings import Finding, Status

if TYPE_CHECKING:
    from graphmend.runtime.status import DeferralStatus

Findings = tuple[Finding, ...]


@dataclass(frozen=True)
class HookStatus:
    """A snapshot of the import hook's work, by module name.

    `mended` holds the findings that were fixed and `refused` those that were not, a module may
    be in both; `skipped` and `failed` hold a reason; `clean` names the modules without a site.
    `deferral` is the runtime's account of whether deferred calls work under torch.compile; None
    before anything was mended.
    """

    packages: tuple[str, ...]
    disabled: bool
    mended: Mapping[str, Findings]
    refused: Mapping[str, Findings]
    skipped: Mapping[str, str]
    failed: Mapping[str, str]
    clean: tuple[str, ...]
    deferral: DeferralStatus | None

    def __str__(self) -> str:
        state = "disabled by GRAPHMEND_DISABLE" if self.disabled else "on"
        names = ", ".join(self.packages) or "no packages"
        lines = [f"graphmend import hook: {state}, for {names}"]
        lines += _section("mended", {m: _sites(f) for m, f in self.mended.items()})
        lines += _section("refused", {m: _reasons(f) for m, f in self.refused.items()})
        lines += _section("skipped", self.skipped)
        lines += _section("failed (imported as they are)", self.failed)
        if self.clean:
            lines.append(f"without break sites: {len(self.clean)} modules")
        lines += _deferral_lines(self.deferral)
        return "\n".join(lines)


def _fixed(findings: Findings) -> Findings:
    return tuple(f for f in findings if f.status is Status.FIXED)


def _left(findings: Findings) -> Findings:
    return tuple(f for f in findings if f.status is not Status.FIXED)


def _section(title: str, rows: Mapping[str, str]) -> list[str]:
    if not rows:
        return []
    return [f"{title}: {len(rows)}", *(f"  {name}: {text}" for name, text in rows.items())]


def _sites(findings: Sequence[Finding]) -> str:
    places = ", ".join(f"{f.code} line {f.line}" for f in findings)
    return f"{len(findings)} ({places})" if findings else "changed"


def _reasons(findings: Sequence[Finding]) -> str:
    return "; ".join(f"{f.code} line {f.line}: {f.reason or 'not applied'}" for f in findings)


@dataclass
class Record:
    """What is known of each module seen; the methods may be called from any thread."""

    findings: dict[str, tuple[Findings, bool]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def seen(self, module: str, findings: Findings, changed: bool) -> None:
        """`module` was loaded through graphmend, its text `changed` or not."""
        with self._lock:
            self._forget(module)
            self.findings[module] = findings, changed

    def skip(self, module: str, reason: str) -> None:
        """`module` was left alone."""
        with self._lock:
            self._forget(module)
            self.skipped[module] = reason

    def fail(self, module: str, reason: str) -> bool:
        """`module` could not be mended; whether that is news."""
        with self._lock:
            news = module not in self.failed
            self._forget(module)
            self.failed[module] = reason
            return news

    def knows(self, module: str) -> bool:
        """Whether anything was recorded of `module`."""
        return module in self.findings or module in self.skipped or module in self.failed

    def snapshot(
        self, packages: tuple[str, ...], disabled: bool, unseen: Mapping[str, str]
    ) -> HookStatus:
        """The status so far; `unseen` are modules that were loaded past the hook."""
        with self._lock:
            found = dict(self.findings)
            skipped = {**self.skipped, **unseen}
            failed = dict(self.failed)
        mended = {m: _fixed(fs) for m, (fs, changed) in found.items() if changed}
        left = {m: _left(fs) for m, (fs, _) in found.items()}
        refused = {m: findings for m, findings in left.items() if findings}
        clean = tuple(m for m in found if m not in mended and m not in refused)
        return HookStatus(packages, disabled, mended, refused, skipped, failed, clean, _deferral())

    def _forget(self, module: str) -> None:
        for table in (self.findings, self.skipped, self.failed):
            table.pop(module, None)


def loaded_from_file(module: object) -> ModuleSpec | None:
    """The spec of a module that was loaded from a file; lazy modules are not woken, nor loaded."""
    if not isinstance(module, ModuleType) or type(module).__module__ == "importlib.util":
        return None
    spec = object.__getattribute__(module, "__dict__").get("__spec__")
    located = isinstance(spec, ModuleSpec) and spec.has_location and spec.origin is not None
    return spec if located else None


def _deferral() -> DeferralStatus | None:
    runtime = sys.modules.get("graphmend.runtime")
    return None if runtime is None else runtime.deferral_status()


def _deferral_lines(deferral: DeferralStatus | None) -> list[str]:
    if deferral is None:
        return []
    reason = f" ({deferral.reason})" if deferral.reason else ""
    refused = {f"{path}:{line}": why for (path, line), why in deferral.refused.items()}
    return [f"deferral: {deferral.state}{reason}", *_section("run in place", refused)]
