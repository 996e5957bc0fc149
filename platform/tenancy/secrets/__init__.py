"""Which secrets does a team keep, and how?

team_secrets  a team's secrets, which only its jobs are told
values        what a secret may hold
encryption    how values are stored that nobody may read in the database
"""
