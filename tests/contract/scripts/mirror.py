"""Tells as JSON what a script sees of itself, then ends as its arguments say."""

import atexit
import json
import os
import random
import resource
import signal
import sys
import threading

seen = {
    "argv": sys.argv,
    "orig_argv": sys.orig_argv[1:],
    "file": __file__,
    "name": __name__,
    "is_main": sys.modules["__main__"].__dict__ is globals(),
    "names": sorted(name for name in globals() if name.startswith("__")),
    "path": sys.path,
    "cwd": os.getcwd(),
    "env": {name: value for name, value in os.environ.items() if name != "CONCERTINA_RECORD"},
    "stdin": sys.stdin.read(),
    "leads_its_session": os.getsid(0) == os.getpgid(0) == os.getpid(),
    "signals": [str(signal.getsignal(number)) for number in (2, 13, 15, 17)],
    "descriptors": len(os.listdir("/proc/self/fd")),
    "threads": threading.active_count(),
    "core": resource.getrlimit(resource.RLIMIT_CORE),
}
print(json.dumps(seen))
print(json.dumps({"random": random.random(), "is_warm": "concertina_worker" in sys.modules}))
atexit.register(print, "at exit")
left_open = open(sys.argv[1], "w")
left_open.write("written")
match sys.argv[2]:
    case "raise":
        raise ValueError("a fault")
    case "exit":
        sys.exit(int(sys.argv[3]))
    case "allocate":
        held = bytearray(int(sys.argv[3]))
    case "wait":
        signal.pause()
