"""Drills for the terminal: played beside everything else, and looked at moment by moment."""
