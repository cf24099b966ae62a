"""Bytecode of the deferred calls of a region, in the frame that TorchDynamo generates."""

from collections.abc import Callable
from typing import Any

from torch._dynamo import config
from torch._dynamo.bytecode_transformation import create_call_function, create_instruction
from torch._dynamo.codegen import PyCodegen

from graphmend.runtime import replay
from graphmend.runtime.marks import Kind
from graphmend.runtime.places import modes_now
from graphmend.runtime.region import Phase, Record, Region

_Load = Callable[[], None]
"""Emits what puts a callable on the stack."""

_Pending = tuple[Record, _Load, list[str]]


def emit_before_graph(region: Region, output: Any) -> None:
    """Put the calls that run before the graph in front of it."""
    records = [r for r in region.records if r.phase is Phase.BEFORE_GRAPH]
    if records:
        codegen = PyCodegen(output.root_tx)
        for record in records:
            _call(codegen, record, _load_callable(codegen, record))
        output.pregraph_bytecode.extend(codegen.get_instructions())


def emit_before_writes(region: Region, codegen: Any) -> list[_Pending]:
    """Emit the calls that run before Python writes are replayed; set up the rest."""
    pending: list[_Pending] = []
    for record in region.records:
        if record.phase is Phase.BEFORE_WRITES:
            _call(codegen, record, _load_callable(codegen, record))
        elif record.phase is Phase.AFTER_WRITES:
            load = _stored(codegen, _load_callable(codegen, record))
            pending.append((record, load, _store_values(codegen, record)))
    return pending


def emit_after_writes(pending: list[_Pending], codegen: Any) -> None:
    """Emit the calls whose arguments `emit_before_writes` has put aside."""
    for record, load, stored in pending:
        codegen.add_push_null(load)
        for name in stored:
            codegen.append_output(codegen.create_load(name))
        _finish_call(codegen, record, len(stored))


def _call(codegen: Any, record: Record, load: _Load) -> None:
    codegen.add_push_null(load)
    values = _values(record)
    for value in values:
        codegen(value)
    _finish_call(codegen, record, len(values))


def _values(record: Record) -> list[Any]:
    restored = [part for r in record.restores for part in (r.source, r.copy)]
    return restored + [gate.condition for gate in record.gates] + record.values


def _finish_call(codegen: Any, record: Record, count: int) -> None:
    keywords = record.arguments.keywords
    if keywords:
        instructions = codegen.create_call_function_kw(count, keywords, False)
    else:
        instructions = create_call_function(count, False)
    for instruction in instructions:
        instruction.copy_positions(record.instruction)
    codegen.extend_output(instructions)
    codegen.append_output(create_instruction("POP_TOP"))


def _store_values(codegen: Any, record: Record) -> list[str]:
    names = []
    for value in _values(record):
        codegen(value)
        names.append(_store(codegen))
    return names


def _store(codegen: Any) -> str:
    name: str = codegen.new_var()
    codegen.append_output(codegen.create_store(name))
    return name


def _stored(codegen: Any, load: _Load) -> _Load:
    load()
    name = _store(codegen)
    return lambda: codegen.append_output(codegen.create_load(name))


def _load_callable(codegen: Any, record: Record) -> _Load:
    """How to load what to call: the deferred function, or what stands for its site's frames."""
    ambient = modes_now()
    modes = tuple(mode for mode in record.modes if mode not in ambient)
    runner = None
    frames = record.place[1:]
    if record.kind is Kind.CHECK or modes:
        runner = record.place[0]
    elif record.resumed:
        frames = record.place
    if runner is None and not frames:
        return lambda: codegen(record.callee)
    gates = tuple(gate.wanted for gate in record.gates)
    described = (frames, runner, len(record.restores), modes, gates)
    output = codegen.tx.output
    if output.package is None and not config.enable_aot_compile:
        made = replay.entry(record.function, *described)
        name = output.install_global_by_id("graphmend_call", made)
        return lambda: codegen.append_output(codegen.create_load_global(name, add=True))
    # Code that is saved can hold constants, but no functions.
    codegen.add_push_null(lambda: codegen.load_import_from(replay.__name__, "entry"))
    codegen(record.callee)
    for constant in described:
        codegen.append_output(codegen.create_load_const(constant))
    codegen.extend_output(create_call_function(6, False))
    name = _store(codegen)
    return lambda: codegen.append_output(codegen.create_load(name))
