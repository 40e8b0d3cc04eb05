"""Replica plans: what to move so that a cluster is as its operator wants it, and how far that is from the best."""
