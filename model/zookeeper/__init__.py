"""One vocabulary of ZooKeeper: what may be asked and is answered, znodes and their changes. Values; nothing is sent."""
