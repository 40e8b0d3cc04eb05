"""A broker's life as decisions: start, controlled shutdown, end. It registers nowhere and waits for nothing itself."""
