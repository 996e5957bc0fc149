"""Who is it that asks, and how do people prove it?

session          log in, log out, and who is logged in
own_password     how somebody changes theirs
sign_in_methods  by what one may sign in here
provider_sign_in  the way by an identity provider's pages, and back
proxy_sign_in    the same by the word of a proxy of ours
proxy_sessions   which sessions by such a word go on
letting_in       what becomes of somebody for whom one of these vouches
invitations      whom leads invite into their team
accepting        how somebody comes in by an invitation
personal_tokens  the keys by which a person's programs do without their password
device_logins    a command line that gets one, with a yes from the person's browser
"""
