"""How is each instruction of a rule carried out? One function for each kind.

dispatch        all that one rule gave: what is written in one transaction, then the orders
worker_rows     what is written of workers
job_rows        what is written of the job, or tells of it
processes       the orders to the worker host
"""
