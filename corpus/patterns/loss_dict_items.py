"""Forward returns (loss tensor, dict of Python floats made by .item()); nothing in the graph uses
the floats.

Expected: same loss and dict of *floats* (type preserved), grads equal; one graph.
Sound rewrite: yes - keep tensors inside the compiled region and convert with .item() at the eager
boundary; returning tensors instead changes the API.
Seen in: https://github.com/huggingface/lerobot/pull/729 (policy forward returns loss plus
loss.item() for logging)
"""

import torch
from torch import nn

CHECK_GRADS = True


class Policy(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.net = nn.Linear(d, d)

    def forward(self, obs, act):
        err = (self.net(obs) - act) ** 2
        info = {"l2_all": err.mean().item()}
        err = err[:, :3]
        loss = err.mean()
        info["l2_used"] = loss.item()
        return loss, info


def make():
    torch.manual_seed(0)
    return Policy(), [
        (torch.randn(2, 4), torch.randn(2, 4)),
        (torch.randn(5, 4), torch.randn(5, 4)),
    ]
