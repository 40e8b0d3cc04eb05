"""Log folders of brokers read as they are on disk: what is in them, how it was written, what is damaged."""
