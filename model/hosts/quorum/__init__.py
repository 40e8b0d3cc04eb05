"""A voter of a KRaft quorum at its edges: what it says on the wire."""
