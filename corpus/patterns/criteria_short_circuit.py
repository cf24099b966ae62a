"""Loop over a Python list of criteria with an early break that is a pure optimisation (monotone
OR).

Expected: same boolean vector whether or not the break fires; one graph.
Sound rewrite: yes - predicate the remaining updates with the done flag (criteria are pure tensor
functions).
Seen in: https://github.com/huggingface/transformers/pull/45384 (StoppingCriteriaList: `if
is_done.all(): break`)
"""

import torch
from torch import nn


class StopBank(nn.Module):
    def __init__(self, stop_ids=(3, 5, 9)):
        super().__init__()
        self.stop_ids = stop_ids

    def forward(self, ids):
        done = torch.zeros(ids.shape[0], dtype=torch.bool)
        for sid in self.stop_ids:
            done = done | (ids[:, -1] == sid)
            if done.all():
                break
        return done


def make():
    return StopBank(), [
        (torch.tensor([[1, 3], [2, 3]]),),
        (torch.tensor([[1, 3], [2, 9]]),),
        (torch.tensor([[1, 1], [2, 2]]),),
    ]
