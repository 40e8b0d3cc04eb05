"""What happened between two images, as sentences for the event feed. Parts that are the same object are skipped."""

from model.cluster.changes.between import changes_between
from model.cluster.changes.change import Change

__all__ = ["Change", "changes_between"]
