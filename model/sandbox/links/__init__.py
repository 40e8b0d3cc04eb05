"""Loopback proxies between brokers, ZooKeeper and clients, to be cut, slowed and healed. They decide nothing."""
