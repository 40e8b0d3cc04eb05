"""A voter of a KRaft quorum: elections, replication of the metadata log, changes of the voters; pure."""
