"""KRaft's metadata log as files: a folder `__cluster_metadata-0` or a copy of it, or one snapshot. Asks nobody."""
