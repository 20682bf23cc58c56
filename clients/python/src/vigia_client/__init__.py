"""Client of the Vigia partner API: every operation with types, webhooks verified, the userHash of a person.

It needs Python's own library and nothing else. `Vigia` calls the service, `verify_webhook` checks what the service
sends, `user_hash` names a person. For servers only: an API key does not belong on a person's device.
"""

from . import codes, schemas
from .client import Vigia
from .errors import VigiaError
from .person import user_hash
from .send import Reply
from .webhook import WebhookError, WebhookEvent, verify_webhook

__all__ = [
    "Reply",
    "Vigia",
    "VigiaError",
    "WebhookError",
    "WebhookEvent",
    "codes",
    "schemas",
    "user_hash",
    "verify_webhook",
]
