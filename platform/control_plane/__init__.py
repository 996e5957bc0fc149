"""What holds the service together? Settings, addresses, processes, and endpoints about everything.

Each storey imports only from those below it:

    settings, urls, apps      Django's settings, addresses and start
    asgi, gunicorn_worker     how `api` is served
    celery, tasks             background tasks, and on which queue they run
    probe, database_roles     commands that containers run: is this process well, and roles
    management                commands of manage.py
    ---
    reporting                 what teams are told without asking: that their month is over
    ---
    api                       endpoints that need several applications at once
    ---
    front                     what stands before Django in `api`
    queries                   questions that need several applications at once
    shells                    how people reach commands beside workers
    setup                     what admins set up, as one document, and how it is changed
    process_priority          which processes give way where all processors are busy
    supply_signals            whoever plans hears that quotas, nodes or pools have changed
    ---
    web                       how any endpoint reads requests and writes answers
    database                  addresses, bounds of statements, deletion in batches
    ---
    configuration             what the environment says
"""
