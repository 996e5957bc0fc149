"""How are Concertina's images made on a machine that reaches no registry?

They are made from what the machine has: its Python, the packages of the checkout's virtual
environment, the shared libraries that these need, and a few tools. `docker import` makes an image
of them, with the same paths, user, labels and commands as the Dockerfiles give.

- `catalogue`: which images there are
- `recipes`: what is in each of them
- `contents`: which files of this machine that means
- `image`: what one image is, and whether Docker's is still made of the same things (`inputs`)
- `engine`: how we talk to Docker
- `project`: what the project says of itself
"""
