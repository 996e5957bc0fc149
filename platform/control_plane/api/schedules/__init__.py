"""What does a team have submitted again and again? Its schedules, and how their runs went.

endpoint   the endpoints
documents  what they are sent, and what they answer
"""
