"""A recording as a source: the image of one moment, like a snapshot."""
