"""What brokers are asked beyond metadata: questions, answers as values, and a client that can only read."""
