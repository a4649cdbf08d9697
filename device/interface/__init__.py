"""The contract as other software reads it: records of every message, JSON Schemas, an AsyncAPI document, Home Assistant's discovery."""

from device.interface.asyncapi import as_text, document
from device.interface.home_assistant import announcement
from device.interface.records import MESSAGES
from device.interface.schemas import schema_of

__all__ = ["MESSAGES", "announcement", "as_text", "document", "schema_of"]
