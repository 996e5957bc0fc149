"""What is the state of a training, and how does it get to joiners, laggards and to disk?"""
