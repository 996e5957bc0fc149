"""How does somebody get beside a worker that has no container?

entrance    starts the attendant
threshold   the program that becomes the worker's user first
"""
