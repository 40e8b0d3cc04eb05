"""How a log finds an offset or a time, told step by step, in a folder that may belong to a running broker.

Kafka's own three steps: the segment by a search of base offsets, a place in it by a search of its index, then batch by
batch from there. Opens files to read only, and repairs nothing.
"""
