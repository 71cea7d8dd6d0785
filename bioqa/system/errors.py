"""The base class of all errors that the user can act on."""


class BioqaError(Exception):
    """An error that the user can act on. Its message is shown to the user unchanged."""
