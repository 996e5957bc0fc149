"""How does the service use its database?

database_url      what a `DATABASE_URL` means to Django
statement_bounds  how long a statement may take, or wait for a row
batch_deletion    how many rows are deleted without anybody waiting for it
"""
