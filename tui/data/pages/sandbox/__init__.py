"""The lists and texts about a sandbox."""
