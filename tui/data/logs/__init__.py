"""Log folders on this machine: listed, checked and read piece by piece. Writes and locks nothing."""
