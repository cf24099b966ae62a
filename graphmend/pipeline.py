"""The one way through: source, analyses, break sites, rewriters, edits, self-check, result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from graphmend.analyses.reach import reached
from graphmend.detect import Site, find_sites
from graphmend.edits import apply
from graphmend.facts import Facts
from graphmend.findings import Edit, Finding, Grade, Result, Status
from graphmend.ir.module import Function, Module
from graphmend.ir.project import Project
from graphmend.ir.source import Source, SourceError
from graphmend.rewrite import REWRITERS, Names, Outline, Refused
from graphmend.rewrite.edits import decorator_names, edits_for, site_edit
from graphmend.rewrite.selfcheck import self_check
from graphmend.session import analyses

# What generators write at the head of a file, in words common to many of them.
_GENERATED = re.compile(
    r"^#.*\bauto(?:matically|-)?\s*generated\s+(?:from|by)\s+(\S+)", re.IGNORECASE | re.MULTILINE
)
_HEAD = 2000
_NO_RULE = "no rule mends this pattern yet"


@dataclass(frozen=True, slots=True)
class Options:
    """What a run may change: grades, rule codes, generated files."""

    unsafe: bool = False
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    generated: bool = False

    def wants(self, code: str) -> bool:
        """Whether a rule code is selected and not ignored; prefixes count."""
        chosen = self.select is None or code.startswith(self.select)
        return chosen and not (self.ignore and code.startswith(self.ignore))


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of a site: an outline, or the reason why it stays."""

    site: Site
    outline: Outline | None
    reason: str | None

    @property
    def grade(self) -> Grade | None:
        """How far the rewrite can be trusted; None without one."""
        if self.outline is None:
            return None
        return Grade.UNSAFE if self.site.assumption else Grade.SAFE


def run(source: Source, options: Options, done: Status) -> Result:
    """Check a text, or mend it where `done` is `Status.FIXED`.

    Raises `SourceError` where the text cannot be parsed, `SelfCheckError` where the mended text
    is not what was meant.
    """
    known = analyses(source)
    project = known.project
    module = project.module_of(source)
    facts = Facts(module, project, known.kinds, known.effects)
    names = Names(module)
    decorators = decorator_names(module, names)
    plans = [_plan(site, facts, names, decorators, options) for site in _sites(facts, options)]
    chosen = [p for p in plans if _applies(p, options)]
    edits: list[Edit] = []
    if done is Status.FIXED:
        edits = edits_for(module, [p.outline for p in chosen if p.outline], decorators)
    mended = apply(source.text, edits)
    if edits:
        self_check(source.text, mended, str(source.path))
    findings = tuple(_finding(p, module, done if p in chosen else None) for p in plans)
    return Result(mended, findings, tuple(edits), _consulted(project))


def _consulted(project: Project) -> frozenset[Path]:
    """What the result rests on: files read, files looked for, and the folder that was searched."""
    folder = {project.root} if project.searched else set()
    return frozenset(project.consulted | project.missing | folder)


def _sites(facts: Facts, options: Options) -> list[Site]:
    """The break sites of all traced functions, in the order of the text."""
    sites: dict[Function, list[Site]] = {}

    def has_sites(function: Function) -> bool:
        if function not in sites:
            found = find_sites(function, facts)
            sites[function] = [site for site in found if options.wants(site.rule.code)]
        return bool(sites[function])

    traced = reached(facts.project, facts.module, has_sites)
    found = [site for function in traced if has_sites(function) for site in sites[function]]
    return sorted(found, key=lambda site: (site.node.lineno, site.node.col_offset))


def _plan(
    site: Site, facts: Facts, names: Names, decorators: dict[str, str], options: Options
) -> Plan:
    if site.refusal is not None:
        return Plan(site, None, site.refusal)
    if not options.generated and (origin := _generated_from(facts.module)):
        return Plan(site, None, f"the file is generated from {origin}; mend that")
    for rewriter in REWRITERS:
        if rewriter.applies(site):
            try:
                outline = rewriter.rewrite(site, facts, names, decorators)
                site_edit(facts.module, outline)
            except Refused as refused:
                return Plan(site, None, str(refused))
            except SourceError as error:  # syntax that libcst cannot keep as it is written
                return Plan(site, None, f"libcst: {error.message}")
            return Plan(site, outline, None)
    return Plan(site, None, _NO_RULE)


def _applies(plan: Plan, options: Options) -> bool:
    return plan.outline is not None and (options.unsafe or plan.grade is Grade.SAFE)


def _generated_from(module: Module) -> str | None:
    match = _GENERATED.search(module.source.text, 0, _HEAD)
    return match[1].rstrip(".,;") if match else None


def _finding(plan: Plan, module: Module, done: Status | None) -> Finding:
    """The report of a plan; `done` is what was or can be done, None where nothing."""
    site, node = plan.site, plan.site.node
    reason = plan.reason
    if reason is None and plan.grade is Grade.UNSAFE:
        reason = f"assumes that {site.assumption}"
    start, end = module.offsets(node)
    first = module.line_offsets[node.lineno - 1]
    last_line = node.end_lineno or node.lineno
    return Finding(
        code=site.rule.code,
        category=site.rule.category,
        path=str(module.path),
        line=node.lineno,
        column=start - first + 1,
        end_line=last_line,
        end_column=end - module.line_offsets[last_line - 1] + 1,
        function=site.function.qualname,
        message=site.message,
        break_type=site.rule.break_type,
        status=done or Status.REFUSED,
        grade=plan.grade,
        reason=reason,
    )
