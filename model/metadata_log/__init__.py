"""KRaft's metadata log: what its records are, and what they make of a cluster. Bytes come from whoever has them.

`decoder` reads one record's value, `schemas` says what may be in it, `replay` makes facts of many records. Nothing here
opens a file, knows a batch's header or asks a controller.
"""
