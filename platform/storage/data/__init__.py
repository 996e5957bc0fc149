"""Which data may jobs be given, and where does it lie? An admin says so once; specs name it.

sources        what the database knows of them, and where a job finds one
kinds          which kinds there are; a new one is a module beside `folders` and a line there
folders        one kind of source: a folder that nodes see
object_stores  another: a URL, from which the platform fetches into its cache
job_outputs    another: what a job wrote
uploaded       another: what a team has uploaded
cache          what was fetched, what is being fetched, and what goes when room is needed
fetcher        the program that fetches, which knows nothing of the service
file_names     can all of these be files in one folder?
listings       what was in a store when it was looked at
rules          what an installation allows
destinations   which addresses may be called for somebody
own_places     where the service itself is
"""
