"""The root of what can go wrong in a way that the user can act on."""


class BioqaError(Exception):
    """Something that the user can act on; its text is shown as it is."""
