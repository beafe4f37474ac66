"""Everything that is simulated, or measured on data: one file each, listed by `python -m studies`."""
