"""What happens to all jobs that the caller sees? Asked for in pages, or sent as it happens.

endpoint  the two endpoints
stream    what one follower is sent
tail      the newest events, read once for all who follow
"""
