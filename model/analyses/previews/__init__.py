"""Rebalance previews: every strategy side by side, for one consumer group or for thousands."""
