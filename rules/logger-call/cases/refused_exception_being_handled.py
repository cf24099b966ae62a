# expect: GM202 refused: exception being handled
# expect: GM202 refused: exception being handled
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Net(nn.Module):
    def forward(self, x, rows: int):
        try:
            x = x.view(rows, -1)
        except RuntimeError:
            logger.exception("cannot be viewed as %d rows", rows)
            logger.debug("as it is", exc_info=True)
        return x * 2
