"""The one way through: source, analyses, break sites, rewriters, edits, self-check, result."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path

from graphmend.analyses.reach import reached
from graphmend.detect import Site, find_sites
from graphmend.edits import apply
from graphmend.facts import Facts
from graphmend.findings import Edit, Finding, Grade, Result, Status, Trap
from graphmend.ir.module import Function, Module
from graphmend.ir.project import Project
from graphmend.ir.source import Source, SourceError
from graphmend.origins import copied_from, generated_from
from graphmend.rewrite import Fix, InGraphAssert, Names, Outline, Refused, Selecting, rewriters
from graphmend.rewrite.draft import Draft
from graphmend.rewrite.edits import edits_for, import_edit, runtime_names, site_edit
from graphmend.rewrite.nesting import innermost_first, obstacle, showing_function
from graphmend.rewrite.selfcheck import self_check
from graphmend.session import analyses

# What generators write at the head of a file, in words common to many of them.
_NO_RULE = "no rule mends this pattern yet"
_NOT_PLAIN = "the fix would import graphmend at run time (--plain)"


@dataclass(frozen=True, slots=True)
class Options:
    """What a run may change: grades, rule codes, generated files; and into what."""

    unsafe: bool = False
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    generated: bool = False
    plain: bool = False
    trap: Trap = Trap.DEFERRED

    def wants(self, code: str) -> bool:
        """Whether a rule code is selected and not ignored; prefixes count."""
        chosen = self.select is None or code.startswith(self.select)
        return chosen and not (self.ignore and code.startswith(self.ignore))


class Unplaced(Exception):
    """The text does not allow the fix of a site, with the reason."""

    def __init__(self, site: Site, reason: str) -> None:
        super().__init__(reason)
        self.site = site


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of a site: a fix, or the reason why it stays."""

    site: Site
    fix: Fix | None
    reason: str | None

    @property
    def grade(self) -> Grade | None:
        """How far the rewrite can be trusted; None without one."""
        if self.fix is None:
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
    plans, edits = _planned(_sites(facts), facts, options)
    if done is not Status.FIXED:
        edits = []
    mended = apply(source.text, edits)
    if edits:
        self_check(source.text, mended, str(source.path))
    plans = [plan for plan in plans if options.wants(plan.site.rule.code)]
    findings = tuple(_finding(p, module, done if _applies(p, options) else None) for p in plans)
    return Result(mended, findings, tuple(edits), _consulted(project))


def _planned(sites: list[Site], facts: Facts, options: Options) -> tuple[list[Plan], list[Edit]]:
    """A plan for every site, and the edits of those that apply.

    Whether a branch can be edited shows when the others have been: what cannot is planned anew.
    """
    refused: dict[ast.AST, str] = {}
    while True:
        names = Names(facts.module)
        runtime = runtime_names(facts.module, names)
        plans = _plans(sites, facts, names, runtime, options, refused)
        chosen = [p for p in plans if _applies(p, options) and options.wants(p.site.rule.code)]
        try:
            return plans, _mend(facts.module, [p.fix for p in chosen if p.fix], runtime)
        except Unplaced as unplaced:
            refused[unplaced.site.node] = str(unplaced)


def _mend(module: Module, fixes: list[Fix], runtime: dict[str, str]) -> list[Edit]:
    """The edits of all fixes.

    Statements that move out of functions come first. Then branches become selections, one after
    the other, each in the text that the others have left.
    """
    draft = Draft(module.source.text)
    outlines = [fix for fix in fixes if isinstance(fix, Outline)]
    selections = [fix for fix in fixes if isinstance(fix, Selecting)]
    used = {name for fix in fixes for name in fix.runtime_names}
    imported = import_edit(module, {n for n in runtime if runtime[n] in used}, runtime)
    edits = edits_for(module, outlines)
    edits += [fix.edit(module) for fix in fixes if isinstance(fix, InGraphAssert)]
    draft.apply(edits if imported is None else [imported, *edits])
    current = _parsed(draft, module) if selections else module
    for selection in selections:
        try:
            draft.apply(selection.edits(draft, current))
            current = _parsed(draft, module)
        except Refused as refusal:
            raise Unplaced(selection.site, str(refusal)) from None
        except SourceError as error:  # a layout that was not foreseen
            raise Unplaced(
                selection.site, f"its text cannot be taken apart ({error.message})"
            ) from None
    return draft.edits()


def _parsed(draft: Draft, module: Module) -> Module:
    return Module.parse(replace(module.source, text=draft.text), module.name)


def _consulted(project: Project) -> frozenset[Path]:
    """What the result rests on: files read, files looked for, and the folder that was searched."""
    folder = {project.root} if project.searched else set()
    return frozenset(project.consulted | project.missing | folder)


def _sites(facts: Facts) -> list[Site]:
    """The break sites of all traced functions, in the order of the text."""
    sites: dict[Function, list[Site]] = {}

    def has_sites(function: Function) -> bool:
        if function not in sites:
            sites[function] = list(find_sites(function, facts))
        return bool(sites[function])

    traced = reached(facts.project, facts.module, has_sites)
    found = [site for function in traced if has_sites(function) for site in sites[function]]
    return sorted(found, key=lambda site: (site.node.lineno, site.node.col_offset))


def _plans(
    sites: list[Site],
    facts: Facts,
    names: Names,
    runtime: dict[str, str],
    options: Options,
    refused: dict[ast.AST, str],
) -> list[Plan]:
    """A plan for every site, in the order of the sites; `refused` are known not to work.

    Inner sites are planned first: what a side of a branch holds must not break the graph.
    """
    planned: dict[Site, Plan] = {}
    for site in innermost_first(sites, facts.module):
        plan = (
            Plan(site, None, refused[site.node])
            if site.node in refused
            else _plan(site, facts, names, runtime, options)
        )
        if isinstance(plan.fix, Selecting):
            stays = {
                s: p.reason or _why_left(p)
                for s, p in planned.items()
                if not (_applies(p, options) and options.wants(s.rule.code))
            }
            reason = obstacle(plan.fix, planned, stays, facts.module)
            try:
                fix = showing_function(plan.fix, planned, facts.module)
                plan = replace(plan, fix=fix) if reason is None else Plan(site, None, reason)
            except Refused as refusal:
                plan = Plan(site, None, str(refusal))
        planned[site] = plan
    return [_named(planned[site], names) for site in sites]


def _why_left(plan: Plan) -> str:
    """Why a fix that could be made is not."""
    assumed = plan.site.assumption
    return "it is not selected" if assumed is None else f"its fix assumes that {assumed}"


def _named(plan: Plan, names: Names) -> Plan:
    """Names count on in the order of the text."""
    return replace(plan, fix=plan.fix.named(names)) if isinstance(plan.fix, Selecting) else plan


def _plan(
    site: Site, facts: Facts, names: Names, runtime: dict[str, str], options: Options
) -> Plan:
    if site.refusal is not None:
        return Plan(site, None, site.refusal)
    if not options.generated and (origin := generated_from(facts.module)):
        return Plan(site, None, f"the file is generated from {origin}; mend that")
    for rewriter in rewriters(options.trap, options.plain):
        if rewriter.applies(site):
            try:
                fix = rewriter.rewrite(site, facts, names, runtime)
                if isinstance(fix, Outline):
                    site_edit(facts.module, fix)  # raises where it does not fit its place
            except Refused as refused:
                return Plan(site, None, str(refused))
            except SourceError as error:  # syntax that libcst cannot keep as it is written
                return Plan(site, None, f"libcst: {error.message}")
            if options.plain and not fix.plain:
                return Plan(site, None, _NOT_PLAIN)
            return Plan(fix.site, fix, None)
    return Plan(site, None, _NO_RULE)


def _applies(plan: Plan, options: Options) -> bool:
    return plan.fix is not None and (options.unsafe or plan.grade is Grade.SAFE)


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
        copied_from=copied_from(site.function),
    )
