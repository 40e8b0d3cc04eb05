"""Kafka's partition assignors as pure functions on integer arrays, ties and all. Nothing here talks to a cluster."""
