"""The ways in which both sides are run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

EAGER, AOT_EAGER, INDUCTOR = "eager", "aot_eager", "inductor"
BACKENDS = (EAGER, AOT_EAGER, INDUCTOR)
DTYPES = ("float32", "float16")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a program is brought into before it is called.

    `dtype` is what its floating point tensors are cast to, None leaves them. In training,
    modules are in training mode and gradients are taken; otherwise modules are in eval mode, and
    `no_grad` says whether they run without gradients.
    """

    dtype: str | None = None
    training: bool = False
    no_grad: bool = False

    def __str__(self) -> str:
        return ", ".join(
            [self.dtype or "dtypes as given", "training" if self.training else "inference"]
        )


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to run every input.

    Without a `backend` the program is not compiled. In `sequence` one object gets all inputs
    twice, and state and recompiles carry over; otherwise every input gets a fresh object and a
    reset compiler. `exact` makes Inductor round as eager code does.
    """

    setting: Setting
    backend: str | None = None
    sequence: bool = False
    fullgraph: bool = False
    thread: bool = False
    checkpoint: bool = False
    exact: bool = True

    def __str__(self) -> str:
        """The arm in words."""
        how = f"compiled by {self.backend}" if self.backend else "not compiled"
        words = [
            how,
            "one object, all inputs twice" if self.sequence else "a fresh object an input",
        ]
        words += ["fullgraph"] if self.fullgraph else []
        words += ["in a worker thread"] if self.thread else []
        words += ["activation checkpointing"] if self.checkpoint else []
        words += ["rounding as eager code"] if self.backend == INDUCTOR and self.exact else []
        return "; ".join([", ".join(words), str(self.setting)])

    @property
    def reference(self) -> Arm:
        """The arm of the original that this one has to agree with."""
        return Arm(self.setting, sequence=self.sequence, checkpoint=self.checkpoint)

    @property
    def within_tolerance(self) -> bool:
        """Whether values are compared within a tolerance, as Inductor promises no more."""
        return self.backend == INDUCTOR and not self.exact


@dataclass(frozen=True, slots=True)
class Traits:
    """What a program is like, as far as the choice of arms depends on it.

    `trains` says whether it has a module or takes arguments that need gradients, `casts` are the
    dtypes that its floating point tensors are not in already.
    """

    is_module: bool
    trains: bool
    casts: tuple[str, ...]


def plan(traits: Traits, backends: Sequence[str]) -> list[Arm]:
    """All arms, those that are not compiled first."""
    settings = [
        Setting(dtype, training, no_grad=traits.trains and not training)
        for dtype in (None, *traits.casts)
        for training in ((False, True) if traits.trains else (False,))
    ]
    arms = [arm for setting in settings for arm in _arms(setting, traits, backends)]
    eager = {arm.reference: None for arm in arms}
    return [*eager, *arms]


def _arms(setting: Setting, traits: Traits, backends: Sequence[str]) -> list[Arm]:
    exact = [backend for backend in backends if backend != INDUCTOR]
    arms = [Arm(setting, backend, sequence=True) for backend in backends]
    if INDUCTOR in backends:
        arms.append(Arm(setting, INDUCTOR, sequence=True, exact=False))
    if setting.dtype is not None:  # what follows does not depend on dtypes
        return arms
    arms += [Arm(setting, backend, fullgraph=True) for backend in exact]
    arms += [Arm(setting, backend, sequence=True, thread=True) for backend in exact[:1]]
    if traits.is_module and setting.training:
        arms += [Arm(setting, backend, checkpoint=True) for backend in exact[-1:]]
    return arms
