"""What an operator may do to a live cluster: what it takes, what it changes, how it is undone. Does nothing itself."""
