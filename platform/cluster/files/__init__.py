"""How are files kept that several processes use at once, and that a crash may cut short?

`json_files` are written whole or not at all; `lock_files` are held by one process and let go by the
kernel; `private_folders` are closed to others; `discarding` removes large folders out of the way;
`disk_walk` counts what a folder takes.
"""
