"""What clients, operators and other brokers ask about topics, configurations and the cluster. It decides nothing."""
