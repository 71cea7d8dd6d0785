"""Vectors of citations in a file beside an index: written, kept up with it, and searched."""
