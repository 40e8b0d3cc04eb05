"""The logs screen's lists and texts."""
