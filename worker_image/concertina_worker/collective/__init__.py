"""How do the workers of one generation find each other and compute together?"""
