"""The vocabulary: ids, records, the cluster image, deltas between images, changes, findings and the snapshot file.

Pure values only. Nothing here reads ZooKeeper, a socket or a clock.
"""
