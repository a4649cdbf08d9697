"""The web side: a consumer of MQTT like any other; the browser is fed by server-sent events.

Start it with `scoreboard.server.Scoreboard`; nothing here knows the camera, the rules' state or the monitor's process.
"""

__all__: list[str] = []
