"""What does this worker compute on, and how busy is it?"""
