"""A voter of a KRaft quorum, and the controller of its node: disk, wire, process."""
