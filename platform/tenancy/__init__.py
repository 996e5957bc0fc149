"""Who uses the platform? Teams, their members, keys, secrets, quotas, and the images they may run.

Each storey imports only from those below it:

    admin        what admins see and change in Django's own pages
    ---
    sign_in      may this password be tried now?
    single_sign_on  who signs in by an identity provider, and as what?
    ---
    access       who sends a request, and what may they see?
    secrets      which secrets a team keeps, and how
    image_rules  which images a team's jobs may run
    queries      what others ask about teams
    usage        how much each team used lately
    retention    for how long a team keeps each part of its jobs
    ---
    audit        who did what, and who was refused
    ---
    models       everything that is stored about teams
    ---
    buckets      how often something may happen
    image_names  which image a name means
    quota_rules  which guarantees and limits go together
    ---
    errors       what can go wrong with a request about a team
    registries   which image registry a host name means
"""
