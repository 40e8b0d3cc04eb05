"""What can be broken in a sandbox, as values, and how it is done and undone."""
