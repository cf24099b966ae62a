"""Branch selects an embedding table; the ids are only valid for the table of the taken branch.
Mixed case uses boolean-mask writes.

Expected: same embeddings for text-only, image-only and mixed ids. TRAP: evaluating both branches
raises IndexError.
Sound rewrite: no for a plain where; sound only with clamped indices (needs a range proof) -
decline by default.
Seen in: https://github.com/vllm-project/vllm-omni/pull/7432 (get_input_embeddings: two
vocabularies)
"""

import torch
from torch import nn


class TwoVocab(nn.Module):
    def __init__(self, n_text=5, n_img=3, d=4):
        super().__init__()
        self.n_text = n_text
        self.text = nn.Embedding(n_text, d)
        self.image = nn.Embedding(n_img, d)

    def forward(self, ids):
        gen = ids >= self.n_text
        if not gen.any():
            return self.text(ids)
        if gen.all():
            return self.image(ids - self.n_text)
        out = self.text.weight.new_zeros(ids.shape[0], self.text.weight.shape[1])
        out[~gen] = self.text(ids[~gen])
        out[gen] = self.image(ids[gen] - self.n_text)
        return out


def make():
    torch.manual_seed(0)
    return TwoVocab(), [
        (torch.tensor([0, 4, 2]),),
        (torch.tensor([5, 7, 6]),),
        (torch.tensor([0, 7, 2]),),
    ]
