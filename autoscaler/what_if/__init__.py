"""What would have happened? Simulations that people ask for over REST, run in the background."""
