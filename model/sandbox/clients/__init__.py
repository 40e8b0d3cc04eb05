"""What the sandbox asks of its brokers before anything else: topics. It knows no faults."""
