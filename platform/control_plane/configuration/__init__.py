"""What does the environment say? Every variable is read once, typed and validated.

environment         all variables of the service
limit_settings      how much may be asked of the service at once
team_visibility     what people see of other teams
mail_settings       through which server mail goes out
provider_settings   by which OpenID provider people sign in
proxy_settings      which proxies of ours say in a header who somebody is
group_settings      what groups give to those whom one of these vouches for
retention_settings  for how long things are kept
shell_settings      who may have shells beside workers, and for how long
redis_url           what a `REDIS_URL` means to Celery
structured_logging  what a log line looks like
"""
