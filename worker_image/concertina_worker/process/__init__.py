"""How does one operating-system process become another program, and how does it end?

- `warm_child`: what a fork of the zygote does to become the program that it was told to be
- `python_program`: what `python script.py` does, in a process that is up already
- `title`: what `ps` shows of such a process
- `parent_death`: how it ends with its parent
- `background`: how it ends while threads of the runtime are inside PyTorch
"""
