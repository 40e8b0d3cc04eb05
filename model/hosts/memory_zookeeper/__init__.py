"""A ZooKeeper in memory: a value, without threads, sockets or a clock of its own. It knows nothing of Kafka."""
