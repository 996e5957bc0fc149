"""As whom does a process run, and what may it see?

`team_users` numbers the users, `folders` gives them what is theirs, and `confinement` makes a
process one of them.
"""
