"""What the active controller of a KRaft quorum decides: pure rules, by release and metadata.version."""
