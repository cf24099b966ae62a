import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        print("building", size)
        self.proj = nn.Linear(size, size)

    def forward(self, x):
        return self.proj(x)


def train(model, batches, optimizer):
    for batch in batches:
        loss = model(batch).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
