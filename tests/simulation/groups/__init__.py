"""Random histories of consumer groups: coordinated ones, and those of ZooKeeper."""
