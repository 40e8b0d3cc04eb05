"""Failure drills over the whole cluster: what becomes of every partition, whoever dies."""
