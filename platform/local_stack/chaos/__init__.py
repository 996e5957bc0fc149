"""What does the death of each component cost? Faults on purpose, and a table of what they did.

- `run`: what `./dev chaos` does
- `faults`: which faults are inflicted, in which order, and when
- `experiment`: how one strike follows the other
- `strikes`: how a fault hits, and how its end is brought about
- `stacks`: on which stack, and which jobs train on it meanwhile
- `containers`: on which machines jobs in containers train, and how they burn down
- `disk_and_network`: what around a stack can be taken away from it
- `observation`: what is seen of jobs and processes from outside
- `checks`: what must hold nevertheless, and whether everything came back
- `measuring`, `table`: what each fault cost, and how a person reads it
"""
