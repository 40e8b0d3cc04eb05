"""What an observer of a KRaft quorum asks and hands on to follow `__cluster_metadata`; asks nobody itself."""
