"""A broker's decisions: replication, the answers to its controller and its clients, its settings and its life.

Pure functions from frozen values to the next value, commands for a host and the sentence that says why. Nothing here
reads a clock, a file or a socket; it elects no leader and knows no wire format.
"""
