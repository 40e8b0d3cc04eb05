"""A controller among real brokers, on a real ZooKeeper: a broker without logs that only rules. It decides nothing."""
