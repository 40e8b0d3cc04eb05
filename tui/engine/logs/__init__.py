"""Log folders on this machine: listed, checked, read piece by piece, looked up in. No file is written or locked."""
