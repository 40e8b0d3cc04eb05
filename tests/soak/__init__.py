"""Churn for an hour: a real ZooKeeper, the real data process, and a verdict on what was lost and what leaked."""
