"""Which calls print, log or warn: the effects a graph cannot hold."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from graphmend.analyses.kind import Tag
from graphmend.detect.site import LOGGER, ONCE, PRINT, WARNING, Rule
from graphmend.facts import Facts
from graphmend.ir.module import Function

# Methods of logging.Logger that write a record (Python's logging module); all take `stacklevel`.
RECORD_METHODS = frozenset(
    {"debug", "info", "warning", "warn", "error", "critical", "fatal", "exception", "log"}
)
# Methods that only ask whether a record would be written.
LEVEL_METHODS = frozenset({"isEnabledFor", "getEffectiveLevel"})
_LEVEL_ATTRIBUTES = frozenset({"level", "disabled"})
_LOGGER_NAME = re.compile(r"(^|_)log(ger|ging)?$", re.IGNORECASE)
# Further methods that loggers are given, by what their names say: `warning_once`, `info_rank0`.
_WRITES = re.compile(r"^(debug|info|warn|warning|error|critical|log)_|_(once|advice)$")
_STANDARD_STREAMS = frozenset({"sys.stdout", "sys.stderr"})
_PRINTS = {"builtins.print", "pprint.pprint", "pprint.pp"} | {
    f"{stream}.{method}" for stream in _STANDARD_STREAMS for method in ("write", "flush")
}


@dataclass(frozen=True, slots=True)
class EffectCall:
    """A call made for its output.

    `stacklevel` says that the call takes that argument and shows its caller's place in what it
    writes. `refusal` and `assumption` are as in `Site`.
    """

    rule: Rule
    call: ast.Call
    verb: str
    stacklevel: bool
    refusal: str | None = None
    assumption: str | None = None


def effect_call(
    node: ast.expr, function: Function, statement: ast.stmt, facts: Facts
) -> EffectCall | None:
    """The effect that evaluating `node` itself has, or None where it is no call made for output."""
    if not isinstance(node, ast.Call):
        return None
    name = facts.module.qualified(node.func, function)
    if name in _PRINTS:
        return EffectCall(PRINT, node, "print", False, _foreign_stream(node, function, facts))
    if name in ("warnings.warn", "_warnings.warn"):
        return EffectCall(WARNING, node, "warn", True)
    if name == "warnings.warn_explicit":
        return EffectCall(WARNING, node, "warn", False)
    if name is not None and name.startswith("logging.") and name[8:] in RECORD_METHODS:
        return EffectCall(LOGGER, node, "log", True, _exception_context(node, name[8:]))
    return _logger_call(node, function, statement, facts) or _once_helper(node, function, facts)


def asks_level(test: ast.expr, function: Function, statement: ast.stmt, facts: Facts) -> bool:
    """Whether a test asks a logger for its level, which Dynamo cannot trace either."""
    return any(
        isinstance(node, ast.Attribute)
        and (node.attr in LEVEL_METHODS or node.attr in _LEVEL_ATTRIBUTES)
        and _is_logger(node.value, function, statement, facts) is not None
        for node in ast.walk(test)
    )


def _logger_call(
    call: ast.Call, function: Function, statement: ast.stmt, facts: Facts
) -> EffectCall | None:
    if not isinstance(call.func, ast.Attribute):
        return None
    method = call.func.attr
    if method in LEVEL_METHODS or not (method in RECORD_METHODS or _WRITES.search(method)):
        return None
    certain = _is_logger(call.func.value, function, statement, facts)
    if certain is None or (method not in RECORD_METHODS and not certain):
        return None
    receiver = ast.unparse(call.func.value)
    assumption = None if certain else f"`{receiver}` is a logging.Logger"
    if method in RECORD_METHODS:
        refusal = _exception_context(call, method)
        return EffectCall(LOGGER, call, "log", True, refusal, assumption)
    return EffectCall(ONCE, call, "log", False, None, assumption)


def _is_logger(
    receiver: ast.expr, function: Function, statement: ast.stmt, facts: Facts
) -> bool | None:
    """True where `receiver` is a logging.Logger, False where it only looks like one, else None."""
    tag = facts.kinds.of(receiver, function, statement).tag
    if tag is Tag.LOGGER:
        return True
    last = receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")
    return False if tag is Tag.UNKNOWN and _LOGGER_NAME.search(last) else None


def _exception_context(call: ast.Call, method: str) -> str | None:
    for keyword in call.keywords:
        if keyword.arg == "stack_info" and not _is_false(keyword.value):
            return "the record shows the call stack, which deferral changes"
        if keyword.arg == "exc_info" and not _is_false(keyword.value):
            return "the record shows the exception being handled, which is gone after the graph"
        if keyword.arg is None:
            return "keyword arguments are unpacked; they may ask for the exception being handled"
    if method == "exception":
        return "the record shows the exception being handled, which is gone after the graph"
    return None


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _foreign_stream(call: ast.Call, function: Function, facts: Facts) -> str | None:
    name = facts.module.qualified(call.func, function)
    if name in ("pprint.pprint", "pprint.pp") and len(call.args) > 1:
        return "its second argument may be a stream that is read before the end"
    for keyword in call.keywords:
        if keyword.arg in ("file", "stream") and not (
            _is_false(keyword.value)
            or facts.module.qualified(keyword.value, function) in _STANDARD_STREAMS
        ):
            return (
                f"it prints into `{ast.unparse(keyword.value)}`, which may be read before the end"
            )
        if keyword.arg is None:
            return (
                "keyword arguments are unpacked; they may name a stream that is read before the end"
            )
    return None


def _once_helper(call: ast.Call, function: Function, facts: Facts) -> EffectCall | None:
    """A call of a cached function that writes output: its cache makes it speak once."""
    callee = facts.project.callee(call, function)
    if not isinstance(callee, Function) or not facts.project.is_cached(callee):
        return None
    effects = facts.effects.of_function(callee)
    if not effects.logs:
        return None
    refusal = "the cached helper does more than write output" if effects.writes else None
    return EffectCall(ONCE, call, "warn", False, refusal)
