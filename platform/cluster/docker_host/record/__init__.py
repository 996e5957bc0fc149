"""What is written down of a process, since Docker cannot keep it? `records`: a folder for each."""
