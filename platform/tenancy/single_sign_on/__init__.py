"""Who signs in without a password of ours? Those for whom an identity provider vouches.

terms      which provider it is, and whom it lets in as what
refusals   why somebody is not let in, each with what to do
claims     what the provider says of a person, within bounds
fetching   requests to the provider, within bounds
provider   the way by the provider's pages, and what its answer proves
proxy      what a header of our own proxy says of a person
accounts   which account is theirs; it is made, shut out or let in again
places     their roles in teams, as the provider's groups give them
lapsing    what groups gave ends where nobody has confirmed it for long
"""
