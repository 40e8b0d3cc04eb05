"""The moments past: which there are, which one is meant, and what it looked like."""
