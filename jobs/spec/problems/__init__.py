"""What is wrong with a spec, in words that people understand?

validation   pydantic's errors, translated
near_fields  which field somebody probably meant
"""
