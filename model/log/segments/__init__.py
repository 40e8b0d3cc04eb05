"""One segment of a log: its files, what is indexed, when the next one begins."""
