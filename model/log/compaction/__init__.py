"""Keeps the newest record of each key of a topic, and lets older ones go.

Kafka 3.9 `kafka.log.LogCleaner`, `LogCleanerManager` and `org.apache.kafka.common.record.MemoryRecords.filterTo`.
"""
