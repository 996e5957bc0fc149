"""What may each team claim of a pool?

    team_tree      how teams stand above one another, and what each subtree is promised
    user_limits    how many GPUs one user's jobs of a team may hold together
    lending        who borrows how much from whom
    water_filling  the fair share of each team, poured down that tree

Who may run within these claims is decided in `fair_share`.
"""
