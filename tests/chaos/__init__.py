"""Random faults on a real ensemble whose tree changes all the time: what is followed ends as a fresh load has it."""
