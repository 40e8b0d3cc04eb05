"""What clients and followers may write and read: acks, limits of reading, offsets. It holds no records."""
