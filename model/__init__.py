"""Kafka's control plane as values and pure decisions, with the edges that carry them out.

Imports no terminal, no plots and no Spark. Sockets, kazoo and processes appear only in `hosts/`, `sources/` and
`sandbox/`.
"""
