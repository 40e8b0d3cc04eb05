"""One partition on one broker, as its leader or a follower: ISR and high watermark. It reads and writes no records."""
