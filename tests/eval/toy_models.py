"""Models of the toy library, with a fault planted in the arm with the import hook."""

import os
import sys

import torch
from torch import nn


def _planted(hooks=f"{sys.meta_path}"):
    return "graphmend" in hooks


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.config = {"image_size": 64, "num_channels": 3}

    def forward(self, pixel_values):
        return {"y": torch.relu(self.layer(pixel_values))}


class Printing(Plain):
    def forward(self, pixel_values):
        print("sum", pixel_values.sum().detach())
        return super().forward(pixel_values)


class Wrong(Printing):
    def forward(self, pixel_values):
        if _planted():
            pixel_values = pixel_values * (1 + 2**-23)
        return super().forward(pixel_values)


class Dying(Plain):
    def forward(self, pixel_values):
        os._exit(7)


class Unbuildable(Plain):
    def __init__(self):
        raise ValueError("needs a size that nobody knows")
