"""The rebalance lab: every strategy for one consumer group, with members and partitions tried."""
