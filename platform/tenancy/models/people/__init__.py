"""How do people come to an account?

identity    who somebody is at an identity provider
invitation  who is invited into which team
"""
