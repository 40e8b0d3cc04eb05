"""What recordings tell of days and months, as pictures, rows and texts."""
