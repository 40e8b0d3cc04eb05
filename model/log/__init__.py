"""Kafka's log on disk: records, the segments and indexes of a partition folder, and what keeps them in order.

What to do (when to roll, what to delete, what to keep, where to cut) is decided by pure functions; thin classes around
files carry it out. Calls are short and synchronous, for one thread. None reads a clock: the time is an argument.
It knows no broker: who leads, who follows and what a client may see is decided elsewhere.
"""
