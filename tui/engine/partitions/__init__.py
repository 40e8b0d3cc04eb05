"""Lists and texts about topics and partitions, and the map of them from near and far."""
