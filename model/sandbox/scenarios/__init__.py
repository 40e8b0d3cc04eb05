"""Drills of a sandbox written down as files: steps with times, and what is expected of the cluster."""
