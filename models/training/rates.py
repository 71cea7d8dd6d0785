"""Schedule of learning rates."""

LEAST = 0.02
"""Final learning rate as a fraction of the initial one."""


def rate_factor(share: float, warm_up: float = 0.0) -> float:
    """Factor of a learning rate after this ``share`` of training: it rises to 1 during the share ``warm_up``,
    then falls linearly to ``LEAST``.
    """
    if share < warm_up:
        return min(1.0, LEAST + share / warm_up)
    return max(LEAST, 1 - (share - warm_up) / (1 - warm_up))
