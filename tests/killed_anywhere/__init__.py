"""SIGKILL for any process of the program at any moment, round after round, and a look at what is left."""
