"""What the sweep's screen shows: scenarios, the worst first, and what they say together."""
