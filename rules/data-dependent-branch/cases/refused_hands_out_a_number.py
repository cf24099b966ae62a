# expect: GM101 refused: its sides leave Python values
import torch
from torch import nn


class Scale(nn.Module):
    def forward(self, image):
        return 1.0 if image.max() <= 1 else 255.0  # guess the range
