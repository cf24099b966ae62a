"""Expressions that leave their place: their layout, and their ast twins."""

from __future__ import annotations

import ast

import libcst as cst

_SPACE, _NOTHING = cst.SimpleWhitespace(" "), cst.SimpleWhitespace("")
_OPENING = cst.LeftParen | cst.LeftSquareBracket | cst.LeftCurlyBrace
_CLOSING = cst.RightParen | cst.RightSquareBracket | cst.RightCurlyBrace


def ast_twin(node: cst.CSTNode, module: cst.Module) -> ast.expr | None:
    """The expression as the analyses know it; None for nodes that are no expression."""
    try:
        return ast.parse(f"({module.code_for_node(node)}\n)", mode="eval").body
    except SyntaxError:
        return None


def on_one_line(expression: cst.BaseExpression) -> cst.BaseExpression:
    """The expression without line breaks inside brackets; as it was where a comment needs one."""
    joined = expression.visit(_Joined())
    assert isinstance(joined, cst.BaseExpression)
    return joined


class _Joined(cst.CSTTransformer):
    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.BaseParenthesizableWhitespace:
        comments = [line.comment for line in updated_node.empty_lines]
        kept = updated_node.first_line.comment is not None or any(comments)
        return updated_node if kept else _SPACE

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        changed = super().on_leave(original_node, updated_node)
        assert isinstance(changed, cst.CSTNode)
        if isinstance(changed, _OPENING) and _was_broken(original_node, "whitespace_after"):
            return _closed_up(changed, "whitespace_after")
        if isinstance(changed, _CLOSING) and _was_broken(original_node, "whitespace_before"):
            return _closed_up(changed, "whitespace_before")
        if isinstance(changed, cst.Call) and _was_broken(original_node, "whitespace_before_args"):
            return _closed_up(changed, "whitespace_before_args")
        if isinstance(changed, cst.Arg) and _was_broken(original_node, "whitespace_after_arg"):
            return _closed_up(changed, "whitespace_after_arg")
        return changed


def _was_broken(node: cst.CSTNode, field: str) -> bool:
    return isinstance(getattr(node, field), cst.ParenthesizedWhitespace)


def _closed_up(node: cst.CSTNode, field: str) -> cst.CSTNode:
    joined = isinstance(getattr(node, field), cst.SimpleWhitespace)
    return node.with_changes(**{field: _NOTHING}) if joined else node
