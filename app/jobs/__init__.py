"""Batches: test sets that are answered in the background and outlive the process."""
