"""Where facts come from: ZooKeeper, files. Every source yields the same records; none decides anything."""
