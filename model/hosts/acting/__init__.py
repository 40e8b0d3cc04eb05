"""Carries proposals out in a live cluster: checked again, written down before and after, never without being asked."""
