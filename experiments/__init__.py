"""Studies that are redone from one command each."""
