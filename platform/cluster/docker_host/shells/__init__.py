"""How does somebody get into a worker's container?

entrance   starts the attendant there
stream     its words, as Docker's connection carries them
"""
