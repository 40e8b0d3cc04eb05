"""Hostile input: whatever comes from outside, broken in every way there is. `python -m tests.hostile_input --help`."""
