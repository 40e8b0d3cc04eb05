"""Who owns what in a consumer group: as a table, and as a graph of two layers that fits the pane."""
