"""By which keys do programs get in?

tokens           how keys are made, recognised and withdrawn
team_tokens      which tokens a team has: leads and admins say so
personal_tokens  which tokens a person has: they say so themselves
device_logins    how a command line gets one of a person who says yes in a browser
bearer           which key an `Authorization` header carries
"""
