"""Stand-ins for models whose code is on a hub: small modules of our own with the published break.

Only facts are taken from the published table: the kind of the break and how often it occurs.
Nothing here is the code of those models, and a row made from one of them says so.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from corpus.recipe import Case, noise, tokens

WIDTH = 32
HEADS = 4
VOCABULARY = 100


def bounded(hidden: torch.Tensor) -> torch.Tensor:
    """Clamps what has overflowed in half precision."""
    if hidden.dtype == torch.float16 and (torch.isinf(hidden).any() or torch.isnan(hidden).any()):
        largest = torch.finfo(hidden.dtype).max - 1000
        hidden = torch.clamp(hidden, min=-largest, max=largest)
    return hidden


class GuardedLayer(nn.Module):
    """A layer that bounds its activations."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)
        self.wide = nn.Linear(WIDTH, 2 * WIDTH)
        self.narrow = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        attended = self.attend(hidden, hidden, hidden, need_weights=False)[0]
        hidden = self.norm(hidden + attended)
        return bounded(hidden + self.narrow(F.gelu(self.wide(hidden))))


class GuardedEncoder(nn.Module):
    """Pictures as patches in front of text, in half precision."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, WIDTH, 8, 8)
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.encode = GuardedLayer()
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, input_ids: torch.Tensor, pixel_values: torch.Tensor) -> torch.Tensor:
        patches = self.patch(pixel_values).flatten(2).transpose(1, 2)
        hidden = self.encode(torch.cat([patches, self.embed(input_ids)], dim=1))
        return self.head(bounded(hidden[:, patches.shape[1] :] * 2))


def florence_2() -> Case:
    """Half precision; in the last call the activations overflow."""
    calls = [
        {"input_ids": tokens(i, 2, length), "pixel_values": noise(i, 2, 3, 16, 16).half()}
        for i, length in enumerate((6, 6, 9, 6))
    ]
    calls[-1]["pixel_values"] = calls[-1]["pixel_values"] * 6e4
    return Case(GuardedEncoder().half(), calls)


class SpokenText(nn.Module):
    """Text in which markers may announce audio, which then has to be given."""

    START, END = 90, 91

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.listen = nn.Linear(8, WIDTH)
        self.layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, 0.0, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, input_ids: torch.Tensor, audio: torch.Tensor) -> torch.Tensor:
        hidden = self.embed(input_ids)
        heard = self.listen(audio).mean(dim=1, keepdim=True)
        if torch.any(input_ids == self.START):
            hidden = hidden + heard
        hidden = self.layer(hidden)
        if torch.any(input_ids == self.END):
            hidden = hidden * 2
        return self.head(hidden)


def qwen_audio() -> Case:
    """With and without markers."""
    calls = [
        {"input_ids": tokens(i, 2, length), "audio": noise(i, 2, 5, 8)}
        for i, length in enumerate((7, 7, 9, 7))
    ]
    calls[1]["input_ids"][0, 0] = SpokenText.START
    calls[3]["input_ids"][1, 2] = SpokenText.END
    return Case(SpokenText(), calls)


def padding_of(mask: torch.Tensor) -> torch.Tensor:
    """The row that all rows of a mask repeat."""
    padding = mask[:, :1, :]
    if not torch.equal(mask, padding.expand_as(mask)):
        raise ValueError("linear attention supports padding masks only")
    return padding


class LinearAttention(nn.Module):
    """Attention without a softmax, for masks that only pad."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        query = F.elu(self.query(hidden)) + 1
        key = (F.elu(self.key(hidden)) + 1) * padding_of(mask).transpose(1, 2)
        summed = key.transpose(1, 2) @ self.value(hidden)
        return query @ summed / (query @ key.sum(dim=1).unsqueeze(-1) + 1e-6)


class LinearEncoder(nn.Module):
    """An encoder of such attention layers."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.near, self.far = LinearAttention(), LinearAttention()

    def forward(self, input_ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = self.embed(input_ids)
        square = mask[:, None, :].expand(-1, mask.shape[1], -1).float()
        hidden = hidden + self.near(hidden, square)
        return hidden + self.far(hidden, square)


def molformer() -> Case:
    """A batch whose second row is padded."""
    calls = []
    for i, length in enumerate((8, 8, 12, 8)):
        mask = torch.ones(2, length, dtype=torch.long)
        mask[1, length - 2 - i % 2 :] = 0
        calls.append({"input_ids": tokens(i, 2, length), "mask": mask})
    return Case(LinearEncoder(), calls)


def add_expert(
    result: torch.Tensor, flat: torch.Tensor, weights: torch.Tensor, expert: nn.Module
) -> torch.Tensor:
    """What an expert makes of the tokens with a weight, however many they are."""
    token = torch.nonzero(weights).flatten()
    return result.index_add(0, token, expert(flat[token]) * weights[token, None])


class Experts(nn.Module):
    """Experts of growing width; every one sees the tokens that were routed to it."""

    def __init__(self, widths: range) -> None:
        super().__init__()
        self.route = nn.Linear(WIDTH, len(widths))
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, width), nn.GELU(), nn.Linear(width, WIDTH))
            for width in widths
        )

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        flat = hidden.reshape(-1, WIDTH)
        scores = self.route(flat).softmax(dim=-1)
        scores = scores.masked_fill(scores < scores.topk(2, dim=-1)[0][:, -1:], 0)
        result = torch.zeros_like(flat)
        for weights, expert in zip(scores.unbind(dim=-1), self.experts, strict=True):
            result = add_expert(result, flat, weights, expert)
        return result.reshape(hidden.shape)


class ExpertDecoder(nn.Module):
    """Layers of experts over embedded tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([Experts(range(8, 16)), Experts(range(16, 24))])

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        hidden = self.embed(input_ids)
        for layer in self.layers:
            hidden = hidden + layer(hidden)
        return hidden


def moe_minicpm() -> Case:
    """Two layers of experts."""
    return Case(
        ExpertDecoder(),
        [{"input_ids": tokens(i, 2, length)} for i, length in enumerate((6, 6, 9, 6))],
    )


class Unpadded(nn.Module):
    """Padding is taken out before the layers and put back behind them."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))

    def forward(self, input_ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        lengths = mask.sum(dim=1)
        longest = int(lengths.max())
        places = torch.nonzero(mask[:, :longest].flatten()).flatten()
        hidden = self.embed(input_ids[:, :longest].flatten()[places])
        for layer in self.layers:
            hidden = hidden + torch.tanh(layer(hidden))
        padded = hidden.new_zeros(mask.shape[0] * longest, WIDTH)
        padded[places] = hidden
        longer = padded.view(mask.shape[0], longest, WIDTH)[lengths > 3]
        return longer.mean(dim=(0, 1)) + torch.repeat_interleave(lengths, lengths).sum()


def stella() -> Case:
    """Rows of different lengths."""
    calls = []
    for i, length in enumerate((8, 8, 12, 8)):
        mask = torch.ones(2, length, dtype=torch.long)
        mask[1, 3 + i :] = 0
        calls.append({"input_ids": tokens(i, 2, length), "mask": mask})
    return Case(Unpadded(), calls)
