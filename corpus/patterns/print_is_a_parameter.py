"""`print` is a parameter and `info` a method; neither has to do with output.

Expected: captured as it is.
Sound rewrite: not needed; nothing may change.
"""

import torch


class Report:
    def info(self, x):
        return x.mean()


def double(x):
    return x * 2


def run(x, print):
    logger = Report()
    return print(x) + logger.info(x)


def make():
    return run, [(torch.tensor([1.0, 2.0]), double), (torch.tensor([3.0]), double)]
