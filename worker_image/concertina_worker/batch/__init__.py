"""What follows from the batch the platform chose: learning rates, noise, memory."""
