"""Digests of the code that runs: those of the named packages, which may lie inside others."""

from eval import code, sites
from eval.code import code_digests


def test_a_package_may_be_a_module_inside_another():
    assert list(code_digests(("eval.code",))) == [code.__name__]
    assert {code.__name__, sites.__name__} <= code_digests(("eval",)).keys()
    assert code_digests(("eval.cod",)) == {}
