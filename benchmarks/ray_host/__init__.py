"""What does a Ray cluster cost a process, beside the same machine without Ray?"""
