"""WHO IS TOLD: events of jobs are sent to the addresses that teams and admins name.

Each storey imports only from those below it:

    hooks        add, change and remove webhooks; test them, send something again
    delivery     what is due is sent, and what came of it is noted
    months       who is told that a team's month is over
    outbox       what has to be sent: one row for each event and webhook
    retention    when deliveries are forgotten
    ---
    named        which webhooks a job names, and on which occasions
    shapes       how a message looks to whoever receives it
    secrets      the address and the key of a webhook, which nobody may read
    ---
    models       everything that is stored about webhooks
    ---
    errors       what can go wrong with a request about a webhook
    mail_server  which server takes mail
"""
