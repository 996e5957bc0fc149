"""How is an answer written?

negotiation      in which form a request is answered
json_answers     how JSON is written
compression      in how many bytes a text travels
error_responses  how the API says that something went wrong
error_body       what the body of an error looks like
"""
