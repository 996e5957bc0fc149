"""How does a job's command start? In the ordinary way, or in an instant, as a fork of a zygote.

`command` is the ordinary start, and `warm` the supervisor's side of a fork. `zygotes` keeps one
process for each environment with all imported, and `plain_python` says which commands can begin as
its forks.
"""
