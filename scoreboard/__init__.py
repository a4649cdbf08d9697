"""The web side: a consumer of MQTT like any other; the browser is fed by server-sent events."""
