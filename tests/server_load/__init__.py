"""A broker of ours under many connections, hostile ones among them: that all are answered, and what it costs."""
