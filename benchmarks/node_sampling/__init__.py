"""What does it cost to read what the workers on a node take?"""
