"""An observer of a KRaft quorum at work: its questions sent to controllers, its time, its connections."""
