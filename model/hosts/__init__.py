"""The edges where decisions become deeds: ZooKeeper, the wire, clocks. Nothing in here decides."""
