"""A live broker's controller: its state and its channels to brokers. It decides nothing."""
