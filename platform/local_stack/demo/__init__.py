"""What does a newcomer watch first? Real training jobs of two teams that share this machine."""
