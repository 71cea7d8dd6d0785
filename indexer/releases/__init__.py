"""Releases of MEDLINE: a year's baseline and update files, loaded into an index in NLM's order."""
