"""The parts that screens are made of. Each draws values it is given and says what the operator did; none fetches."""
