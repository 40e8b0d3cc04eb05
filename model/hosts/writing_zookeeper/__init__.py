"""A ZooKeeper session that writes, for a process that is a broker itself. Sources never import it: they only read."""
