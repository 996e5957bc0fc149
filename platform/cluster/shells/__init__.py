"""How does a person's command run beside a worker, where the worker is?

entrance    the port: who leads to a process, and what comes back
program     the same program as text
attendant   the program that runs there: it starts the command, and ends all of it
"""
