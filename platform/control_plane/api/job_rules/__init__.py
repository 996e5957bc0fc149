"""What does a team say of the specs of its jobs? Its rules, and its templates.

rules      the endpoints of rules
templates  the endpoints of templates
documents  what both are sent, and what they answer
versions   which version a request has seen
"""
