"""A broker as a process: its life, its logs, and what it answers, on real sockets and disks. It decides nothing."""
