"""What do a team's rules and templates make of a spec that was sent?

line       the rules and templates of a team and those above it, as the database has them
token_bounds  a token that is limited to pools or labels has its jobs there
preparing  a spec that was sent becomes one with its template and its team's defaults
"""
