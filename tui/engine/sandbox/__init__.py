"""The sandbox's client in the data process: what a key does to it, and what it shows."""
