"""WHEN: what teams have submitted again and again, at times that a cron expression tells.

Each storey imports only from those below it:

    rounds       what is due is recorded, then submitted; every few seconds
    ---
    changing     add, change, pause, resume and delete schedules
    asking       submit a schedule's spec now, because somebody asks for it
    retention    when runs are forgotten
    ---
    reading      which schedules are there, and how did their last runs go?
    submitting   the one way by which a run becomes jobs
    ---
    specs        is the stored spec one that can be submitted again and again?
    holders      in whose name does a schedule submit, and may they still?
    telling      webhooks are told what went wrong
    ---
    models       everything that is stored about schedules
    ---
    due_times    when is a cron expression due in a time zone? Pure
    ---
    errors       what can go wrong with a request about a schedule
"""
