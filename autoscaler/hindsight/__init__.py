"""What did changes cost that nobody reports? Told from the logs, in the background."""
