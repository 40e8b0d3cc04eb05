"""Formats of other tools, as texts and as values: what Kafka's tools print, others' plans, Prometheus text."""
