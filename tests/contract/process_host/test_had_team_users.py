"""Which users do teams get, and does a machine tell whether it has them?"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest
from cluster.process_host import trial
from cluster.process_host.users.team_users import TeamUsers
from cluster.worker_host import LaunchRefused, ProcessRole

USERS: Final = TeamUsers(first=1_950_000_000, last=1_950_000_009)
USER: Final = str(USERS.first)


def needs(*command: str) -> None:
    """Skip where the kernel refuses what this does."""
    tried = subprocess.run((*command, "true"), capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"not possible here: {tried.stderr.strip()}")


def test_numbers_of_users_stay_within_their_range() -> None:
    taken = {USERS.of(team, role) for team in (0, 1, 2, 3, 4) for role in ProcessRole}
    assert taken == set(range(USERS.first, USERS.last + 1))
    with pytest.raises(LaunchRefused, match="CONCERTINA_TEAM_UIDS"):
        USERS.of(5, ProcessRole.WORKER)


def test_a_machine_has_them_where_the_kernel_lets_root_become_them() -> None:
    """Else a trial that fails by mistake would switch them off, and their other tests with them."""
    needs("unshare", "--mount", "setpriv", "--reuid", USER, "--regid", USER, "--clear-groups")
    assert trial.why_not(USERS.first) == ""


def test_a_machine_that_lacks_such_users_says_so() -> None:
    """Root of a user namespace, as in a container without root, is no other user."""
    needs("unshare", "--user", "--map-root-user")
    code = f"from cluster.process_host import trial; print(trial.why_not({USERS.first}))"
    command = ("unshare", "--user", "--map-root-user", sys.executable, "-c", code)
    path = os.pathsep.join(path for path in sys.path if path)
    env = {**os.environ, "PYTHONPATH": path}
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert told.stdout.strip() == f"user {USERS.first} cannot be had here: Invalid argument", (
        told.stderr
    )
