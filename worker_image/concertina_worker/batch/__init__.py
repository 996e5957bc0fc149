"""What follows from the batch the platform chose: learning rate, schedule, noise, memory."""
