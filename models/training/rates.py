"""Learning rates that change while a ranker trains."""

LEAST = 0.02
"""What a rate comes down to, of what it was."""


def rate_factor(share: float, warm_up: float = 0.0) -> float:
    """What a learning rate is multiplied by when that ``share`` of training is over: up to 1 in the share
    ``warm_up``, then in a straight line down to ``LEAST``.
    """
    if share < warm_up:
        return min(1.0, LEAST + share / warm_up)
    return max(LEAST, 1 - (share - warm_up) / (1 - warm_up))
