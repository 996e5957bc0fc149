"""Which files of this machine belong in an image?

- `tree`: all of them, written as the same archive every time
- `system`: a shell, tools, a user, folders, names
- `interpreter`: this machine's Python
- `distributions`: installed packages
- `libraries`: the shared libraries that all these ask for, as `elf` reads them
- `bytecode`: what Python makes of a source file
"""
