"""Releases of MEDLINE: a year's baseline and its update files, brought into an index in NLM's order."""
