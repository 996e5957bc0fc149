"""How does what a container writes get into the log store, no line twice and none left out?

`following` is what a service process knows: whose log is copied, which is complete; `slow_refill`
bounds how long looks wait for one. The copies are made by a program of its own, the `copier`:
`copying` asks Docker, takes the answer apart into `messages`, and keeps in `cursors` how far it is;
`copied_log` compares with what is there already.
"""
