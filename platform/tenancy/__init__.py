"""WHO uses the platform: teams, members, tokens, quotas, and how each team stands."""
