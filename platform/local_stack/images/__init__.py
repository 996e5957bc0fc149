"""How are Concertina's images made on a machine that reaches no registry?

From what the machine has: its Python, the packages of the checkout's virtual environment, the
shared libraries they need and a few tools. `docker import` makes an image of these, with the same
paths, user, labels and commands as the Dockerfiles give. `catalogue.py` lists the images.
"""
