"""A member of a ZooKeeper consumer group in a real cluster: its session, fetchers and clock. It decides nothing."""
