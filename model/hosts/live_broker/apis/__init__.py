"""What a live broker answers, as the wire has it, from what its other parts do. It decides nothing."""
