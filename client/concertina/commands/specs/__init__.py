"""What does a team say of the specs of its jobs?

rules      what they have to be
templates  what they may begin with
"""
