"""The appliance: cameras, the loop, match log, outbox, MQTT, evidence, health, configuration, command line."""
