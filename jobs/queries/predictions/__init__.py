"""What do predictions say by now, and how good were they?

ageing       what a prediction still says when it is old
calibration  how good predictions were
outcomes     what came of the newest predictions, one by one
"""
