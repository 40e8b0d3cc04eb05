"""A whole cluster in virtual time: brokers with our controller on a ZooKeeper in memory, for what-if and simulation."""
