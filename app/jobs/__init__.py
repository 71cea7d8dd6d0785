"""Batches: test sets answered in the background, which outlive the process."""
