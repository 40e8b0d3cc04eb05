"""Real server processes on this machine, started and ended by kdrill; nothing here decides anything about Kafka."""
