"""Replica plans as rows and texts, and a plan's files."""
