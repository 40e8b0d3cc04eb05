"""The indexes beside a segment, and the snapshot of its producers: entries of fixed width, all numbers big-endian."""
