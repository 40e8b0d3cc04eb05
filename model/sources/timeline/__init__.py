"""What a source told over the last hours: the moments past, within a bound of memory."""
