"""For which jobs do those of a call wait? They are found by id or name, once for the whole call.

naming     which jobs the specs of a call name, and which of them the team has
resolving  which job each entry of a spec means, and what is wrong with it
"""
