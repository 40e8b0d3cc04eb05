"""What the rebalance lab shows: groups, strategies side by side, who would get what, and why."""
