"""A live broker's controller: its state, its channels to brokers, its ZooKeeper sessions. It decides nothing."""
