"""What does each rule do about a job? One module per concern."""
