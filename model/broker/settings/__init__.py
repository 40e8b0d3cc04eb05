"""server.properties by Kafka's own names of keys: types, defaults, checks, overrides by topic. It opens no file."""
