"""What is said to the service in several steps, by programs that block and by others?

A talk is a generator. It yields what is to be done next, and is given what came of it; it neither
sends nor waits itself, so that both clients lead the same talks.

- `steps`: what a talk may ask for
- `carrying`: how its steps are carried out, by who blocks and by who awaits
- `log_following`: a log over broken connections, without missing or repeating a line
- `waiting`: what happens to a job until it is final
- `uploading`: code or data in pieces
"""
