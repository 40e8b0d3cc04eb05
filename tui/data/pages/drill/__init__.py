"""What the drill's screen shows: brokers, moments, the map of what happens, and how the cluster stands."""
