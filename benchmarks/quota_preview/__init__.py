"""How long does a preview of quotas take?"""
