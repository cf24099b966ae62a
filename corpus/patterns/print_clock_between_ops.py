"""Print whose argument is an impure call (a tick counter standing in for a clock).

Expected: ticks printed 1 then 2 in order, interleaved with a stateful counter that is also bumped
by a helper between them.
Sound rewrite: no for a clock (moving it changes meaning); a tool must decline or keep argument
evaluation in place.
Seen in: https://github.com/pytorch/pytorch/issues/93739 (argument why prints must not be moved
blindly: print(time.time()) between ops)
"""

import torch

_ticks = [0]


def tick():
    _ticks[0] += 1
    return _ticks[0]


def timed(x):
    x = torch.sin(x)
    print("t0", tick())
    x = torch.sin(x)
    tick()
    x = torch.sin(x)
    print("t1", tick())
    return torch.sin(x)


def make():
    _ticks[0] = 0
    return timed, [(torch.tensor([0.3]),), (torch.tensor([0.6]),)]
