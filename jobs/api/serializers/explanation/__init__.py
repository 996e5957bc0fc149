"""Why does a job have what it has? The newest decision about it, as the API answers it.

explanation  the decision, in words and numbers
details      the numbers of each kind of explanation, as a union
parts        the values that these numbers consist of
"""
