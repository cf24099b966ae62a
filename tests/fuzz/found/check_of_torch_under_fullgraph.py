# ruff: noqa
# fmt: off
# A program that behaves differently once mended. To see it:
#     python -m eval fuzz --replay THIS_FILE
# arms: {"gradients": "none", "training": false, "backend": "eager", "rounds": 1, "thread": false, "checkpoint": true, "trap": "deferred", "plain": false}
# compiled by eager, whole, call 0:
# error:
#   RuntimeError('Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to PyTorch.)',) Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to PyTorch.) from NoneType
#   RuntimeError('Runtime assertion failed for expression u0 >= 1 on node \'ge\'\n\nWhile executing %_assert_scalar_default : [num_users=0] = call_function[target=torch.ops.aten._assert_scalar.default](args = (%ge, Runtime assertion failed for expression u0 >= 1 on node \'ge\'), kwargs = {})\nOriginal traceback:\n  File "/work/scratch/fuzzclone/eval/fuzz/compare.py", line 134, in <lambda>\n    return lambda *arguments: checkpoint(network, *arguments, use_reentrant=False)\n                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File "/tmp/graphmend-fuzz-7w4y38ep/mended_136.py", line 17, in forward\n    _forward_check(h.sum() > 0)\n  File "/tmp/graphmend-fuzz-7w4y38ep/mended_136.py", line 8, in _forward_check\n    torch._check(bool(condition))\n                 ^^^^^^^^^^^^^^^^\n\nUse tlparse to see full graph. (https://github.com/pytorch/tlparse?tab=readme-ov-file#tlparse-parse-structured-pt2-logs)',) Runtime assertion failed for expression u0 >= 1 on node 'ge'
#
# While executing %_assert_scalar_default : [num_users=0] = call_function[target=torch.ops.aten._assert_scalar.default](args = (%ge, Runtime assertion failed for expression u0 >= 1 on node 'ge'), kwargs = {})
# Original traceback:
#   File "/work/scratch/fuzzclone/eval/fuzz/compare.py", line 134, in <lambda>
#     return lambda *arguments: checkpoint(network, *arguments, use_reentrant=False)
#                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   File "/tmp/graphmend-fuzz-7w4y38ep/mended_136.py", line 17, in forward
#     _forward_check(h.sum() > 0)
#   File "/tmp/graphmend-fuzz-7w4y38ep/mended_136.py", line 8, in _forward_check
#     torch._check(bool(condition))
#                  ^^^^^^^^^^^^^^^^
#
# Use tlparse to see full graph. (https://github.com/pytorch/tlparse?tab=readme-ov-file#tlparse-parse-structured-pt2-logs) from NoneType

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, flag):
        h = x * 1
        torch._check(bool(h.sum() > 0))
        return h + h


def make():
    return Net(), [
        (torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], dtype=torch.float32), True,),
        (torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], dtype=torch.float32), True,),
    ]
