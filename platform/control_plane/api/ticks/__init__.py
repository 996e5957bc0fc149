"""What did the autoscaler do, and what was a GPU worth?

endpoint   answers
documents  how much of a tick is told to whom
"""
