"""The read-only edge to a ZooKeeper ensemble. It never writes a znode and knows nothing of Kafka."""
