"""Who is it that asks, and how do people prove it?

session          log in, log out, and who is logged in
personal_tokens  the keys by which a person's programs do without their password
device_logins    a command line that gets one, with a yes from the person's browser
"""
