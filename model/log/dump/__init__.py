"""What a file of a log folder holds, as text and as JSON lines: `kdrill dump-log` without its command line.

The text is what Kafka 3.9's `kafka.tools.DumpLogSegments` prints, byte for byte, wherever that tool prints anything.
Files are opened read-only, read in pieces, and never trusted: damage is told with its position, and what follows it is
shown.
"""
