"""The sandbox as the data process has it: its client, and what a key means to it."""
