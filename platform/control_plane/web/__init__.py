"""How does any endpoint read requests and write answers?

body_parsers      bodies, as JSON or YAML, of bounded size
plain_yaml        what a YAML text means
plain_values      which values a document may hold
plain_addresses   which characters an address may hold
answers           how an answer is written, and an error
whole_requests    in which thread a request is answered
leased_slots      how all processes count together what is open
repeated          what is not done again for questions that are asked again
security_headers  what a browser may do with our pages
dashboard         how the dashboard reaches the browser
"""
