"""What is a source that somebody uploaded? Folders that a team keeps here, one version each.

bounds     how much of it there may be
paths      which folder holds what
manifests  which files there are to be, and what is in them: it comes first
uploads    files appear as their bytes come, each block checked by its digest
kind       how jobs see it
"""
