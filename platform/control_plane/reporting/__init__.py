"""Who is told what without asking, beside what happens to jobs?

month_ends  tells each team once that its month is over, with its report
"""
