"""Lists and texts about a cluster: overview, brokers, controller, findings, events, znodes."""
