"""A debugging f-string of the form f"{x.mean()=}".

Expected: the expression's text and the value, once a call.
Sound rewrite: yes - the f-string moves as it was written; the mean is taken in the graph.
"""

import torch


def probe(x):
    y = torch.relu(x) + 1
    print(f"{y.mean()=} of {x.shape[0]}")
    return y * y


def make():
    return probe, [(torch.tensor([1.0, -2.0]),), (torch.tensor([0.5, 0.5, 4.0]),)]
