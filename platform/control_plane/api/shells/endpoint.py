"""How is a shell beside a worker opened, and how does what is typed get there?"""

from __future__ import annotations

import base64
import secrets
import shlex
import time
from dataclasses import asdict
from typing import Any, Final

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.grants import grant_of
from tenancy.access.principal import principal_of
from tenancy.audit.records import note_change

from control_plane.api.audit.senders import sender_of
from control_plane.api.shells.opening import (
    find_job_to_enter,
    find_worker,
    put_input,
    take_slots,
)
from control_plane.api.shells.stream import ShellOutput
from control_plane.shells.orders import (
    LARGEST_COMMAND,
    LARGEST_INPUT,
    MOST_INPUTS,
    SHELL,
    ShellInput,
    ShellOrder,
    mark,
)
from jobs.api.requests import KnownFieldsMixin, body

_MOST_WORDS: Final = 1000
_LARGEST_SIDE: Final = 1000
_MOST_BASE64: Final = 4 * (LARGEST_INPUT // 3 + 1)
SIGNALS: Final = ("INT", "TERM", "QUIT", "HUP")


class ShellBody(KnownFieldsMixin, serializers.Serializer[Any]):
    command = serializers.ListField(
        child=serializers.CharField(
            trim_whitespace=False, allow_blank=True, max_length=LARGEST_COMMAND
        ),
        required=False,
        default=list,
        max_length=_MOST_WORDS,
        help_text="The program and its arguments; none: a shell.",
    )
    worker = serializers.RegexField(
        r"^[A-Za-z0-9-]{0,60}$",
        required=False,
        default="",
        allow_blank=True,
        help_text="Its id, or its rank. Default: the first.",
    )
    is_terminal = serializers.BooleanField(
        required=False, default=False, help_text="The command has a terminal, as in a window."
    )
    rows = serializers.IntegerField(
        required=False, default=24, min_value=1, max_value=_LARGEST_SIDE
    )
    columns = serializers.IntegerField(
        required=False, default=80, min_value=1, max_value=_LARGEST_SIDE
    )

    def validate_command(self, command: list[str]) -> list[str]:
        if command and not command[0]:
            raise serializers.ValidationError("begins with no program. Name one.")
        if sum(len(word.encode()) for word in command) > LARGEST_COMMAND:
            raise serializers.ValidationError(
                f"has more than {LARGEST_COMMAND} bytes. Send the rest as its input."
            )
        return command


class ShellInputBody(KnownFieldsMixin, serializers.Serializer[Any]):
    number = serializers.IntegerField(
        min_value=1,
        max_value=1 << 53,
        help_text="The first piece is 1, the next one 2: what was taken is not taken again, and"
        " where one is missing the shell ends.",
    )
    content = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        max_length=_MOST_BASE64,
        help_text=f"At most {LARGEST_INPUT} bytes as base64. None: the client is still there.",
    )
    is_last = serializers.BooleanField(
        required=False, default=False, help_text="The command's standard input ends."
    )
    rows = serializers.IntegerField(
        required=False, default=None, min_value=1, max_value=_LARGEST_SIDE
    )
    columns = serializers.IntegerField(
        required=False, default=None, min_value=1, max_value=_LARGEST_SIDE
    )
    signal = serializers.ChoiceField(choices=["", *SIGNALS], required=False, default="")

    def validate_content(self, content: str) -> bytes:
        try:
            return base64.b64decode(content, validate=True)
        except ValueError:
            raise serializers.ValidationError("is not base64. Encode the bytes so.") from None


class ShellsView(APIView):
    @extend_schema(
        operation_id="open_shell",
        summary="Run a command beside a worker of a job, where the team may",
        description="The answer is `text/event-stream` and lasts as long as the command: when it is"
        " closed, the command is ended. The event `begin` tells the `shell` and the `worker`;"
        " `output` and `errors` bring bytes as base64 in `data`; `end` tells why it is over, as"
        " `end` with a `message`, and the `exit_code` if the command came to one. Send what is"
        " typed to `…/input`, and at least an empty piece every half a minute.",
        request=ShellBody,
        responses={(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def post(self, request: Request, job_id: str) -> HttpResponseBase:
        job = find_job_to_enter(principal_of(request), job_id)
        asked = body(request, ShellBody)
        worker = find_worker(job, asked["worker"])
        grant = grant_of(request, team_id=job.team_id)
        order = ShellOrder(
            id=secrets.token_hex(16),
            job_id=job.id,
            worker=worker.id,
            node=worker.named_node,
            command=tuple(asked["command"] or SHELL),
            is_terminal=asked["is_terminal"],
            rows=asked["rows"],
            columns=asked["columns"],
            holder=grant.holder,
            asked_at=time.time(),
            sender={**asdict(sender_of(request._request))},  # noqa: SLF001 - DRF gives no other way
            team_id=job.team_id,
        )
        take_slots(order)
        told = {"shell": order.id, "worker": worker.id, "command": shlex.join(asked["command"])}
        note_change(after={**told, "is_terminal": order.is_terminal})
        output = ShellOutput(order=order, grant=grant, team=str(job.team_id))
        return StreamingHttpResponse(
            output.events(),
            content_type="text/event-stream",
            headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
        )


class ShellInputView(APIView):
    @extend_schema(
        operation_id="write_to_shell",
        summary="Send what is typed to a command beside a worker",
        description="By whoever opened the shell. Refused with 429 while the command reads too"
        " slowly: send the same again a moment later.",
        request=ShellInputBody,
        responses={204: None},
    )
    def post(self, request: Request, job_id: str, shell: str) -> Response:
        job = find_job_to_enter(principal_of(request), job_id)
        asked = body(request, ShellInputBody)
        data: bytes = asked.pop("content") or b""
        if len(data) > LARGEST_INPUT:
            raise exceptions.ValidationError({"content": [f"has more than {LARGEST_INPUT} bytes."]})
        piece = ShellInput(data=data, **asked)
        holder = grant_of(request, team_id=job.team_id).holder
        put_input(shell, piece.packed(), mark=mark(holder, job.id), most=MOST_INPUTS)
        return Response(status=status.HTTP_204_NO_CONTENT)
