"""If/else on a tensor; taken side takes sqrt of an expression that is negative on the other side.
Trained parameter feeds the test.

Expected: equal outputs AND equal parameter gradients (finite). TRAP: plain where gives NaN
gradient when the test is False (step 3).
Sound rewrite: yes with double-where (neutralise sqrt's argument) or torch.cond; plain where is
only forward-sound.
Seen in: https://github.com/pytorch/pytorch/pull/125824 (RAdam: `if rho_t > 5`, replaced by
torch.where)
"""

import torch
from torch import nn

CHECK_GRADS = True


class Rectify(nn.Module):
    def __init__(self):
        super().__init__()
        self.beta = nn.Parameter(torch.tensor(0.9))

    def forward(self, step, g):
        inf = 2 / (1 - self.beta) - 1
        bt = self.beta**step
        rho = inf - 2 * step * bt / (1 - bt)
        if rho > 5.0:
            r = torch.sqrt((rho - 4) * (rho - 2) * inf / ((inf - 4) * (inf - 2) * rho))
            out = g * r
        else:
            out = g * self.beta
        return out


def make():
    torch.manual_seed(0)
    g = torch.randn(4)
    return Rectify(), [(torch.tensor(3.0), g), (torch.tensor(30.0), g)]
