"""Answers biomedical questions with the best MEDLINE articles and sentences."""

__version__ = "0.1.0"
