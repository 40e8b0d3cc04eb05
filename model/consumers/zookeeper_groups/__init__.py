"""A member of a ZooKeeper consumer group as decisions: join, rebalance, claim, commit, leave."""
