"""How is it written down for people who may do what? As a page of docs, from the one table of it.

`make openapi` writes it; a test holds it to `tenancy.access.permissions`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import django

if __name__ == "__main__":
    django.setup()  # the table names roles as they are stored

from control_plane.api.operation_permissions import OPERATIONS, OpenTo
from tenancy.access.permissions import COLUMNS, TABLE, Permission

ROOT: Final = Path(__file__).parents[2]
_MARK: Final = "●"
_ALSO: Final[Mapping[OpenTo | Permission, tuple[str, ...]]] = {
    Permission.CHANGE_OWN_JOBS: ("those of *change all jobs*, with one's own",),
    Permission.MANAGE_MEMBERS: ("`change_team`, of `members_change_all_jobs` alone",),
    Permission.SET_UP: ("`set_data_source` and `delete_data_source`, of uploads",),
}
_PAGE: Final = """\
<!-- Written by `make openapi` from platform/tenancy/access/permissions.py. -->

# Roles: who may do what

A person has a role in a team: **viewer**, **member** or **lead**. The role holds in all teams
below that one, too: a lead of `research` leads `research`'s teams `vision` and `language`. Who
has several roles in a team has the strongest. Platform **admins** see every team and may do
everything.

| in a team | {heads} |
|---|{rules}|
{rows}

- **A token** of a team may do what its column says, in that team alone. Unless
  it has [scopes](tokens.md), it outranks a member: it
  changes all jobs of the team, and sets its secrets and its data. Leads and admins make
  [tokens](tokens.md), for pipelines. So give a token to programs, and to people only if they may
  do all of that.
- **A member's own jobs** are those that they submitted while logged in. Those that came with a
  token are the team's, and so is what was submitted by an account that is gone; leads, tokens and
  admins change them. An account that is made anew under an old name does not get the former one's
  jobs.
- **A team may let its members change all of its jobs**, with `members_change_all_jobs`. A lead
  says so with `PATCH /api/v1/teams/TEAM`, an admin at `/admin/` as well. It counts for people who
  are in that very team, not for those whose role comes from a team above. Teams from before there
  were roles have it switched on, so that everybody may do there what they could.
- **A lead of the team above** divides its guarantee: `PATCH /api/v1/teams/TEAM/quotas/POOL` of a
  team below, as long as the teams below are promised no more than the team above is guaranteed.
  `concertina quota set TEAM POOL --guaranteed 4 --as USER` does it on the command line.
  Nobody but an admin changes the quota of a team that has none above.
- What others see of a team's quotas, standing and usage is said by
  [`CONCERTINA_TEAMS_SEE`](../operations/configuration.md). A team in which the sender has
  no role looks, beyond that, as if it did not exist: 404. What a role does not allow is refused
  with 403.

## Who is in a team

Leads say so, without an admin: on the team's page of the dashboard under *People and tokens*, on
the command line, or with `/api/v1/teams/TEAM/members`. The
account has to be there: admins make accounts at `/admin/`, and whoever is invited makes their own.

```console
$ concertina members ls vision
$ concertina members add ada --role member --team vision --as carl
$ concertina members change ada lead --team vision --as carl
$ concertina members remove ada --team vision --as carl
```

`--as` names whoever does it, because a token may not; the password is asked for.

- The list also names those who have their role by a team above. They are changed there.
- Nobody gives or takes a role that may do more than they may.
- A team that has a lead keeps one: the last one is removed, or given another role, by an admin
  only. A lead of a team above counts; an account that is switched off does not.
- Who is removed sees nothing of the team within seconds. Their jobs go on, and leads change them.
- A team has at most 1000 people, beside those of teams above.
- The service's log tells of each change who made it.

Somebody who is not here yet gets a link. Whoever has it becomes a member, once, within seven days:

```console
$ concertina members invite --role member --mail ada@example.com --team vision --as carl
$ concertina members invitations vision --as carl
$ concertina members uninvite 7 --team vision --as carl
```

They join with their account, or make one with a password. Where people sign in by a provider or a
proxy they do so first, so it has to let them in (`CONCERTINA_OIDC_ADMITS`), unless
`CONCERTINA_INVITED_MAKE_ACCOUNTS=yes`. The link is useless once whoever made it may not give the
role any more, or cannot log in. It is mailed where this installation sends mail, for a team 30
times at once and 30 times an hour; else it is passed on by hand. A team has at most 50 open ones.

## What each operation of the API needs

The names are those of [the API's description](../openapi.yaml).

| permission | operations |
|---|---|
{operations}
"""


@functools.cache
def written() -> Mapping[Path, str]:
    """The file with what should stand in it."""
    page = _PAGE.format(
        heads=" | ".join(COLUMNS),
        rules="|".join("---" for _ in COLUMNS),
        rows="\n".join(map(_row, Permission)),
        operations="\n".join(map(_operations, (*OpenTo, *Permission))),
    )
    return {ROOT / "docs/teams/roles.md": page}


def _row(permission: Permission) -> str:
    row = TABLE[permission]
    cells = (_MARK if role in row.held_by else " " for role in COLUMNS)
    return f"| **{_words(permission)}**: {row.meaning} | {' | '.join(cells)} |"


def _operations(needed: OpenTo | Permission) -> str:
    names = sorted(f"`{name}`" for name, one in OPERATIONS.items() if one == needed)
    return f"| {_words(needed)} | {', '.join((*names, *_ALSO.get(needed, ())))} |"


def _words(one: OpenTo | Permission) -> str:
    return one.value.replace("_", " ")


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text)
