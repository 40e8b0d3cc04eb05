"""The dashboard: Textual only. It draws values that the engine hands it, and says what the operator did."""
