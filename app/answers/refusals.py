"""Why a good question is not answered now: the same may be asked again later."""

from bioqa.bioasq.errors import BioqaError


class Refused(BioqaError):
    """``retry_after_s``: after how many seconds asking again is likely to help."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class QueueFull(Refused):
    """As many questions wait as may."""


class TimedOut(Refused):
    """The time for a question was over before it could be ranked."""


class Draining(Refused):
    """The service ends: it takes no new questions."""


class RankingFailed(Refused):
    """The ranker failed, and the operator wants no answers without it."""


class BatchesUnavailable(BioqaError):
    """The file that holds the batches cannot be used, now or at all."""
