"""Which jobs does a spec with the field `array` ask for?

terms         what the field says, with its bounds
placeholders  where in a spec a trial's values go
expansion     the spec of each trial
"""
