"""How fast does data come in that is fetched for jobs?"""
