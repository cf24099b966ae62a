# expect: GM101 fixed
import torch


def to_unit(image):
    peak = 1.0 if image.max() <= 1 else 255.0  # guess the range
    image = image / peak
    return image.clamp(0, 1)


def make():
    image = torch.tensor([0.5, 200.0])
    return to_unit, [(image,), (image / 255,), (image.double(),), (image.int(),)]
# output
import torch
from graphmend.runtime import select


def to_unit(image):
    def rest(image, peak):  # guess the range
        image = image / peak
        return image

    image = select(
        image.max() <= 1,
        lambda image, rest: rest(image, 1.0),
        lambda image, rest: rest(image, 255.0),
        image,
        rest,
    )
    return image.clamp(0, 1)


def make():
    image = torch.tensor([0.5, 200.0])
    return to_unit, [(image,), (image / 255,), (image.double(),), (image.int(),)]
