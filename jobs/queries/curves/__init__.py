"""What do the curves of a job say?

points  how it went over time
speeds  how fast it trained in each of its generations
"""
