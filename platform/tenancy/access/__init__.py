"""Who sends a request, and what may they see?

authentication  how a request proves who sends it
principal       on whose behalf a request is made, and what it may do in which teams
permissions     what each role may do: the only table of it
token_bounds    in which pools, and with which labels, the jobs are that a token reaches
members         who is in a team: leads say so
invitations     how somebody comes into a team whom a lead invites
reach           where a person has which role
keys            by which keys programs get in
grants          are those who were let in still to be let in?
administration  who may see the administration site
addresses       where a request comes from, and which network an address stands for
"""
