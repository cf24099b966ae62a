"""Naming the cause of a break."""

import traceback

import pytest

from eval.sites import category_of, site_of


@pytest.mark.parametrize(
    ("reason", "text", "category"),
    [
        ("logging.Logger method not supported for non-export cases", "logger.warning(", "LC"),
        ("Attempted to call function marked as skipped", "warnings.warn(", "LC"),
        ("Failed to trace builtin operator", 'print("x", x)', "LC"),
        ("Attempted to call function marked as skipped", "native.sort(x)", "?"),
        ("Data-dependent branching", "if x.any():", "DC"),
        ("generic_jump TensorVariable()", "while x > 0:", "DC"),
        ("Data-dependent assertion failed (cannot compile partial graph)", "assert ok", "VG"),
        ("list_richcompare_nonconst", "assert list(x.shape) == [", "VG"),
        ("Dynamic shape operator", "x.nonzero()", "DS"),
        ("Data dependent operator", "torch.linspace(0, n, n)", "DO"),
        ("Unsupported Tensor.item() call with capture_scalar_outputs=False", "x.item()", "TI"),
        ("something else", "f(x)", "?"),
    ],
)
def test_category(reason, text, category):
    assert category_of(reason, text) == category


def test_a_resumed_frame_is_its_function_and_the_path_starts_at_the_package():
    frame = traceback.FrameSummary(
        "/env/lib/python3.11/site-packages/some/model.py",
        7,
        "torch_dynamo_resume_in_forward_at_5",
        line="if x.any():",
    )
    site = site_of("Data-dependent branching\n  more", [frame])
    assert (site.path, site.line, site.function) == ("some/model.py", 7, "forward")
    assert site.reason == "Data-dependent branching"
