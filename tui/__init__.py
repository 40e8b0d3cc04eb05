"""The operator's terminal: command line, data process, screens and widgets. Decides nothing about Kafka."""
