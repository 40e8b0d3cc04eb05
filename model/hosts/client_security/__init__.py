"""How clients log in, from a file in the format of Kafka's own client.properties."""
