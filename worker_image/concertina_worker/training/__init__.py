"""What happens in one optimizer step of one worker?"""
