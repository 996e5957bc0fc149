"""Does what files beside `<path>` tell it: `obedient.py <path> [deaf]`."""

import signal
import sys
import time
from pathlib import Path

control = Path(sys.argv[1])
if sys.argv[2:]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True:
    said = control.with_name(f"{control.name}.say")
    if said.exists():
        text = said.rename(f"{control}.said").read_text()
        print(text, end="", flush=True)
    ending = control.with_name(f"{control.name}.exit")
    if ending.exists():
        sys.exit(int(ending.read_text()))
    time.sleep(0.02)
