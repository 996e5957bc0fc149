"""Who changes what a team says of the specs of its jobs? Admins, and leads.

deciding   the rules of a team
templates  the templates of a team
"""
