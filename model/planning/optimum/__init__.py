"""Where replicas should be: a proven optimum by linear programming, from arrays to arrays. No names, no files."""
