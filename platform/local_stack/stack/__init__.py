"""What does a run of the stack do, and what is known of it from outside?

- `stack`: starts servers, schema, teams and service; watches them; stops them
- `service`: which processes make up the service, and in which environment they run
- `preparation`: what the database must hold before the service starts
- `note_keeper`: what happens if the record of what is up cannot be written
- `background`: how a stack runs behind another program
- `leftovers`: what an earlier run left running
"""
