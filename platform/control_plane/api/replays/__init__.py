"""What would the recent past have been with other quotas? Whoever may change them may ask.

quota_previews  before and after a change that somebody thinks of
quota_prices    what each GPU of a team's guarantee is worth to it, and to the others
documents       what both of these are written in
"""
