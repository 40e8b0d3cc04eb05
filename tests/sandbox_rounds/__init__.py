"""Random faults on a real sandbox under load, round after round, and then the audit."""
