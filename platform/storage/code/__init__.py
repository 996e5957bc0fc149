"""How does the code of a job come to its workers? Packed, uploaded, unpacked once, mounted.

bounds    how much code may be kept
paths     which folder or file holds what
archives  an archive becomes a folder that nobody writes to, or is refused
uploads   an archive comes in pieces, and is complete or not there at all
"""
