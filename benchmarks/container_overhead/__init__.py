"""What does the platform cost a training in a container? See `__main__`."""
