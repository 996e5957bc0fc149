"""What do the people who build Concertina run, beside the product itself?

- `images`: makes the images on a machine that reaches no registry
- `screenshots`: keeps what every page of the dashboard looks like
"""
