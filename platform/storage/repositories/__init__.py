"""How does code come from a git repository? Fetched by the platform, as data of object stores is.

It becomes the same snapshot as if its folder had been uploaded (`storage.code`), so nothing else
knows of repositories. Jobs see neither the repository nor what it asks for.

fetched     what a fetcher left becomes a snapshot of a team
workplace   where it works meanwhile
fetcher     the program that fetches: one commit, one folder of it
addresses   which URLs are not to be called
"""

from storage.repositories.addresses import why_not

__all__ = ["why_not"]
