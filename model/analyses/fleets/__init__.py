"""Failure drills in time, by the thousand: what each would cost in seconds without a leader."""
