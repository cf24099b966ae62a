"""Expressions: values of tensors, tests on their data, messages about them."""

from __future__ import annotations

from eval.fuzz.pen import Pen

_UNARY = (
    "{x} * 2",
    "{x} + 1",
    "{x} - {x}.mean()",
    "{x}.clamp(-1, 1)",
    "torch.relu({x})",
    "{x}.abs()",
    "{x} / 2",
    "torch.tanh({x})",
    "{x}.exp()",
    "torch.sqrt({x})",
    "torch.log({x}.abs())",
    "1 / {x}",
    "{x} / {x}.sum()",
    "{x} / ({x}.norm() + 1e-6)",
    "{x} ** 2",
    "{x} ** 0.5",
    "F.softmax({x}, dim=-1)",
    "torch.nan_to_num({x})",
    "{x}.masked_fill({x} > 1, 0)",
    "{x}.cumsum(0)",
    "{x}.sort(dim=-1).values",
    "{x}.rsqrt()",
    "torch.zeros_like({x})",
    "{x}.new_ones({x}.shape)",
    "torch.full_like({x}, 0.5)",
    "{x}.detach() * 3",
    "{x}.clone()",
    "{x}.flip(0)",
    "F.layer_norm({x}, (2,))",
    "{x}.sign()",
    "{x}.round()",
)
_VIEWS = (
    "{x}",
    "{x}.t().t()",
    "{x}.view(-1, 2)",
    "{x}.reshape({x}.shape)",
    "{x}[:]",
    "{x}.contiguous()",
    "{x}.t().contiguous().t()",
    "{x}.amax(0).expand({x}.shape[0], 2)",
    "torch.cat({x}.chunk(2, dim=1), dim=1)",
    "torch.stack({x}.unbind(1), dim=1)",
)
_DTYPES = (
    "{x}.double()",
    "{x}.float()",
    "{x}.half()",
    "{x}.to(torch.bfloat16)",
    "{x}.to(x.dtype)",
    "({x} > 0).float()",
    "{x}.int() * 0.5",
    "{x}.type_as(x)",
    "{x} * torch.ones(2, dtype=torch.float64)",
)
_BINARY = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} * {y}",
    "{x} / {y}",
    "torch.where({x} > 0, {x}, {y})",
    "torch.maximum({x}, {y})",
    "torch.lerp({x}, {y}.to({x}.dtype), 0.5)",
    "({x} + {y}) / 2",
    "torch.hypot({x}, {y})",
)
_OWNED = (
    "{x} * self.gain",
    "self.fc({x}.float())",
    "{x} + self.level",
    "{x} * self.seen",
    "{x} - self.last",
    "self.norm({x}.float())",
    "{x} @ self.fc.weight.to({x}.dtype)",
)
_IDS = ("{x}[ids]", "F.embedding(ids, {x})", "{x} + (ids // 2).sum()", "{x} * (6 // ids).sum()")
_RARE = (
    "F.dropout({x}, 0.5)",
    "F.dropout({x}, 0.5, training=self.training)",
    "{x} + torch.rand(2)",
)
_SCALARS = (
    "{x}.sum()",
    "{x}.mean()",
    "{x}.max()",
    "{x}.abs().max()",
    "{x}.norm()",
    "{x}[0, 0]",
    "{x}.float().std()",
)


def matrix(pen: Pen) -> str:
    """An expression of a float tensor of shape (rows, 2), harmless or not."""
    kinds = [(27, _UNARY), (12, _BINARY), (9, _VIEWS), (4, _DTYPES)]
    if pen.names.owner:
        kinds += [(15, _OWNED)]
    if pen.names.has_ids:
        kinds += [(4, _IDS)]
    kinds += [(1, _RARE)]
    form = pen.pick(*pen.weighted(*kinds))
    if "self" in form and not pen.names.owner:
        form = _UNARY[0]
    if pen.names.scalars and pen.chance(12):
        return f"{name(pen)} * {pen.pick(*pen.names.scalars)}"
    return form.format(x=name(pen), y=name(pen))


def name(pen: Pen) -> str:
    """A name of a matrix."""
    return pen.pick(*reversed(pen.names.matrices))


def scalar(pen: Pen) -> str:
    """An expression of a tensor of no dimensions."""
    return pen.pick(*_SCALARS).format(x=name(pen))


_TESTS = (
    "{x}.sum() > 0",
    "({x} > 1).any()",
    "torch.isnan({x}).any()",
    "not torch.isfinite({x}).all()",
    "{x}.abs().max() > LIMIT",
    "({x} < 0).all()",
    "{x}.mean() < {x}.max() / 2",
    "torch.any({x} == 0)",
    "0 < {x}.max() < 3",
    "{x}.max()",
    "{x}.sum() != {x}.sum()",
    "torch.isinf({x}).any() | torch.isnan({x}).any()",
)
_READS = (
    "torch.equal({x}, {y})",
    "torch.allclose({x}, {y})",
    "({x} > 1).any().item()",
    "bool(({x} > 1).all())",
    "{x}.sum().item() > 0",
    "float({x}.max()) > LIMIT",
    "any(row.sum() > 2 for row in {x})",
    "{x}.nonzero().shape[0] > 2",
)
_STATIC = (
    "flag",
    "not flag",
    "{x}.dtype == torch.float32",
    "{x}.shape[0] > 1",
    "{x}.dim() == 2",
    "torch.is_grad_enabled()",
)
_COMBINED = (
    "{p} and {q}",
    "{p} or {q}",
    "not ({p})",
    "{s} and {p}",
    "{s} or {p}",
    "{s} and ({p} or {q})",
    "{p} and {s}",
    "({p} if {s} else {q})",
    "not ({p} or {q})",
)


def test(pen: Pen) -> str:
    """A condition, mostly on the data of a tensor."""
    kinds = [(24, "plain"), (8, "combined"), (1, "read"), (2, "walrus"), (1, "static")]
    kinds += [(6, "mask")] if pen.names.has_mask else []
    kinds += [(6, "ids")] if pen.names.has_ids else []
    kind = pen.weighted(*kinds)
    if kind == "combined":
        parts = {"p": _plain(pen), "q": _plain(pen), "s": static(pen)}
        return pen.pick(*_COMBINED).format(**parts)
    if kind == "read":
        return pen.pick(*_READS).format(x=name(pen), y=name(pen))
    if kind == "walrus":
        return f"({pen.fresh('top')} := {scalar(pen)}) > {pen.pick('0', '1', 'LIMIT')}"
    if kind == "static":
        return static(pen)
    if kind == "mask":
        return pen.pick("mask is not None and mask.any()", "mask is None or mask.all()")
    if kind == "ids":
        return pen.pick("(ids < 3).all()", "ids.max() > 2", "(ids == 0).any()")
    return _plain(pen)


def _plain(pen: Pen) -> str:
    if pen.names.scalars and pen.chance(25):
        return f"{pen.pick(*pen.names.scalars)} > {pen.pick('0', '1', '-1')}"
    return pen.pick(*_TESTS).format(x=name(pen), y=name(pen))


def static(pen: Pen) -> str:
    """A condition that tracing can decide."""
    options = [*_STATIC, *(["self.training", "self.strict"] if pen.names.owner else [])]
    return pen.pick(*options).format(x=name(pen))


_MESSAGES = (
    '"plain"',
    'f"rows {{{x}.shape[0]}}"',
    'f"max {{{x}.max().item():.3f}} of {{{x}.numel()}}"',
    'f"first {{{x}[0].tolist()}}"',
    'f"sum {{{x}.sum():.2f}} {{flag=}}"',
    '"mean %.2f" % {x}.mean().item()',
    '"{{}} and {{}}".format(flag, {x}.dtype)',
    'f"all {{{x}.detach()}}"',
    'f"bad {{{x}[~torch.isfinite({x})].tolist()}}"',
)


def message(pen: Pen) -> str:
    """An expression of a text, mostly about a tensor."""
    return pen.pick(*_MESSAGES).format(x=name(pen))
