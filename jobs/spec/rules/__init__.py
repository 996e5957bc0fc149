"""What does a team say of the specs of its jobs? Rules and templates; pure.

bounded_fields  which fields rules bound, and what of a spec counts
rule_set        what a set of rules says, and how it is read
checking        which rules does a spec break?
tightening      which rules are looser than those of a team above?
merging         a partial spec below another, field by field
"""
