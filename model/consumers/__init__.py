"""Consumer groups: who owns what. Pure functions; nothing here talks to a cluster."""
