"""What is kept of what was?

audit_entry    who did what
setup_version  what the set-up was then
"""
