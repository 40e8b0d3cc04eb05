"""Which past moment is meant, what it looked like, and saving it."""
