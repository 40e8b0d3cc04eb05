"""Hours of keys on every screen, and proof by what was on the wire that a cluster was only read."""
