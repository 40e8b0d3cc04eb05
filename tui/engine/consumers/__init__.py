"""Lists and texts about consumer groups, and the graph of who owns what, laid out and drawn in characters."""
