"""What becomes of a request for a WebSocket? It is refused with 403: there are none here."""

from __future__ import annotations

from control_plane.front.asgi_types import Application, Receive, Scope, Send


class OnlyHttp:
    """ASGI middleware: Django would raise for other protocols, which is a 500 and a traceback.

    Messages that ask for nothing, as a server's own start and end, pass.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})
            return
        await self._application(scope, receive, send)
