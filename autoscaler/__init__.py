"""How many workers and which batch does each job get, and how is that made so?"""
