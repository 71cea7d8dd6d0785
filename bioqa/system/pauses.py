"""How long to wait before something that failed is tried again."""


def pause_after(failures: int, first_s: float, longest_s: float) -> float:
    """Seconds after so many failures in a row: ``first_s`` after one, then twice as long each time."""
    # Beyond 2^30 there is nothing to double, and a float would overflow one day.
    doubled: float = first_s * 2 ** min(max(0, failures - 1), 30)
    return min(longest_s, doubled)
