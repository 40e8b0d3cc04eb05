"""A sandbox in a process of its own, ordered about by JSON lines: the process, and the client that starts it."""
