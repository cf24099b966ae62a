"""A printed list that grows afterwards.

Expected: the list as it was where the print stood.
Sound rewrite: yes - the container is taken apart at the site, or the site is refused.
"""

import torch


def collect(x):
    parts = [x.sum()]
    print("parts", parts, len(parts))
    parts.append(x.max())
    print("parts", parts, len(parts))
    return torch.stack(parts)


def make():
    return collect, [(torch.tensor([2.0, 4.0]),), (torch.tensor([1.0]),)]
