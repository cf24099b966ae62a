# expect: GM101 refused: no rule turns this branch into a selection
import torch
from torch import nn


class Scale(nn.Module):
    def forward(self, image):
        peak = 1.0 if image.max() <= 1 else 255.0  # guess the range
        return image / peak
