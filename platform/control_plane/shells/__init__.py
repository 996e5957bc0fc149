"""How do a person at a command line and a command beside a worker reach each other? Through Valkey.

`api` may not reach workers, and `control` may not be reached from outside. So `api` leaves an order
in Valkey; a program beside `control`, the relay, takes it, starts the command, and passes on what
both say, in short lists that slow the faster one down.

    keeper     starts the relay beside `control`, and again should it die
    relay      takes orders
    session    one shell: from the order to the end of the command
    leaving    why a worker has ended
    ended      the end of a shell in the audit log
    mailbox    the lists and marks in Valkey, and how many shells there may be
    orders     what is ordered, as values
"""
