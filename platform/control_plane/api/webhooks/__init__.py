"""Who is told of events: webhooks of teams and of the installation, and what they were sent.

endpoint   the endpoints
documents  what they are sent, and what they answer
"""
