"""What each list and text shows: pure functions from a moment and a question to rows."""
