"""Reasons why a valid question is not answered now; the client may retry."""

from bioqa.system.errors import BioqaError

RETRY_AFTER_S = 5
"""Where nothing can be estimated."""


class Refused(BioqaError):
    """``retry_after_s``: seconds after which a retry is likely to succeed."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class QueueFull(Refused):
    """The queue's capacity is reached."""


class TimedOut(Refused):
    """A question's time limit passed before ranking began."""


class Draining(Refused):
    """The service is shutting down and accepts no new questions."""


class RankingFailed(Refused):
    """The ranker failed, and the settings do not allow answers without it."""


class EncoderUnavailable(Refused):
    """The encoder of an index's vectors cannot be used."""


class NoRoom(Refused):
    """The disk of batches is full."""


class BatchesUnavailable(BioqaError):
    """The file that holds the batches cannot be used."""
