"""What do a team's rules and templates make of a spec that was sent?

line       the rules and templates of a team and those above it, as the database has them
preparing  a spec that was sent becomes one with its template and its team's defaults
"""
