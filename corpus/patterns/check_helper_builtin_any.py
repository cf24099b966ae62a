"""Guard lives in an imported helper module, raises a custom exception type; the caller passes
builtin any() over a tensor; helper has a `raises` flag returning bool.

Expected: CheckError with the message when no element is >= 0; otherwise unchanged (keep builtin
any semantics, even where it looks like a bug).
Sound rewrite: yes if the helper is rewritten too: builtin any(t) over 1-d tensor == t.any();
custom exception restored at the boundary.
Seen in: https://github.com/kornia/kornia/pull/3787 (KORNIA_CHECK(any(factor >= 0), ...))
"""

import torch
from report_helpers import check


def contrast(img, factor):
    check(any(factor >= 0), "contrast factor must be positive")
    return (img * factor.view(-1, 1, 1)).clamp(0, 1)


def make():
    torch.manual_seed(0)
    img = torch.rand(2, 3, 3)
    return contrast, [
        (img, torch.tensor([0.5, 1.5])),
        (img, torch.tensor([-5.0, 0.5])),
        (img, torch.tensor([-1.0, -2.0])),
    ]
