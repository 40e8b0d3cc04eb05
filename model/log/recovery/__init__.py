"""Opens a partition's folder: finishes what a crash interrupted, cuts what it tore, and tells what was done.

Kafka 3.9 `kafka.log.LogLoader`.
"""
