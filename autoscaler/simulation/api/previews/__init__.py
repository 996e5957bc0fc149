"""What would other quotas have meant for the recent past? The history, replayed before and after.

asking      writes down that somebody wants a preview, unless there is one
execution   carries out a preview
base_runs   the history with the cluster as it is, which previews share
clusters    which two clusters a preview compares
pacing      how often it makes plans
answers     what of a preview its reader may see
"""
