"""What is not done again for questions that are asked again and again?

shared_reads       what several ask at once is read once
unchanged_answers  what somebody has already is not sent again
"""
