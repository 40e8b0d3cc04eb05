"""Actions on a live cluster, in the process that holds its source: the way in, what is proposed, what is under way."""
