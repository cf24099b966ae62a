"""`if done.any():` wraps in-place masked writes into caller-owned state tensors (obs[done] =
fresh[done]; steps[done] = 0), method on a plain class.

Expected: caller's tensors mutated identically; returned views alias the same storage.
Sound rewrite: yes - obs.copy_(where(done, fresh, obs)) / masked_fill_; empty mask is a no-op so
the if can go; must stay in place.
Seen in: https://github.com/pytorch/rl/pull/3790 (compile env step-and-reset)
"""

import torch


class Env:
    def __init__(self, d=3):
        self.start = torch.arange(d, dtype=torch.float32)

    def advance(self, obs, steps):
        obs.add_(1.0)
        steps.add_(1)
        done = steps >= 3
        if done.any():
            fresh = self.start.expand_as(obs)
            obs[done] = fresh[done]
            steps[done] = 0
        return obs, done


ENV = Env()


def step(obs, steps):
    return ENV.advance(obs, steps)


def make():
    return step, [
        (torch.zeros(4, 3), torch.tensor([0, 1, 2, 2])),
        (torch.zeros(4, 3), torch.tensor([0, 0, 1, 0])),
    ]
