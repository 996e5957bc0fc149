"""What is seen of jobs and processes from outside?

- `database`: what the database of the stack says, as values of `facts`
- `processes`: which processes the jobs have, read from `/proc`
- `sample_record`: which samples went into a training, from what its workers wrote down
- `moments`: whether this is the moment at which a fault should strike
- `silences`: which nodes the service misses, and since when
- `beside`: how something is looked at all the time
"""
