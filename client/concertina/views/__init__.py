"""What do people see? Functions from documents to things `rich` can draw; they ask nothing."""
