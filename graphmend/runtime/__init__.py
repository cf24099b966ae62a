"""What mended code calls: statements that run after the graph, branches that become selections.

A mended program imports `deferred_check`, `deferred_effect`, `select` and its predicates from here.
Importing this package imports nothing of torch; the part that works inside TorchDynamo is loaded
when the program itself first imports `torch._dynamo`.
"""

from graphmend.runtime.branches import both, either, negated, select
from graphmend.runtime.install import install
from graphmend.runtime.marks import async_check, deferred_check, deferred_effect
from graphmend.runtime.status import DeferralStatus, deferral_status

__all__ = [
    "DeferralStatus",
    "async_check",
    "both",
    "deferral_status",
    "deferred_check",
    "deferred_effect",
    "either",
    "negated",
    "select",
]

install()
