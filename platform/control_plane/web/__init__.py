"""How does any endpoint read requests and write answers?

body_parsers      bodies, as JSON or YAML, of bounded size
plain_yaml        what a YAML text means
plain_values      which values a document may hold
plain_addresses   which characters an address may hold
negotiation       in which form a request is answered
json_answers      how an answer is written
error_responses   how the API says that something went wrong
error_body        what the body of an error looks like
whole_requests    in which thread a request is answered
repeated          what is not done again for questions that are asked again
security_headers  what a browser may do with our pages
dashboard         how the dashboard reaches the browser
"""
