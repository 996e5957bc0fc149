"""A Celery worker that is asked to end does so, whatever its task does, and its child with it."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
from local_stack.stack.service import WORKER

ENDLESS = """
import os
import signal
from pathlib import Path

from control_plane import celery

celery.SHUTDOWN_SECONDS = 1
app = celery.celery_app


@app.task(name="endless")
def endless(pipe):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    Path(pipe).write_text(str(os.getpid()))
    while True:
        signal.pause()


if __name__ == "__main__":
    import sys

    endless.apply_async((sys.argv[1],), queue=sys.argv[2])
"""


def test_a_worker_ends_though_its_task_does_not(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    pipe, queue = tmp_path / "pid", f"endless-{uuid.uuid4()}"
    os.mkfifo(pipe)
    path = os.pathsep.join([str(tmp_path), *(path for path in sys.path if path)])
    environment = {**os.environ, "PYTHONPATH": path}
    python = sys.executable
    asks = (python, str(tmp_path / "endless.py"), str(pipe), queue)
    works = (python, "-m", "celery", "-A", "endless:app", *WORKER)
    with subprocess.Popen((*works, "-c", "1", "-Q", queue), env=environment) as worker:
        subprocess.run(asks, env=environment, check=True)
        child = psutil.Process(int(pipe.read_text()))
        worker.terminate()
        assert worker.wait() != 0  # by the alarm
        child.wait()  # not ours, so this asks until it is gone
