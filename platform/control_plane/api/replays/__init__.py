"""What would the recent past have been with other quotas? Whoever may change them may ask.

quota_previews  before and after a change that somebody thinks of
quota_prices    what each GPU of a team's guarantee is worth to it, and to the others
team_outcomes   how a team fared, as both of these write it
"""
