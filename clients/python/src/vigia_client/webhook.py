"""Verifying webhooks, by Standard Webhooks 1.0."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, List, Mapping, Optional, Sequence

from .schemas import EventBody

_TOLERANCE = 5 * 60  # seconds; what is older may be a replay
_MOST_SIGNATURES = 32  # bounds the work that a forged header can cause


class WebhookError(Exception):
    """Why a webhook was refused. Answer 4xx, except to `key`: that is a mistake of your own and deserves a 500."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"webhook refused: {reason}")
        #: One of key, headers, timestamp, signature and body.
        self.reason = reason


@dataclass(frozen=True)
class WebhookEvent:
    """A verified webhook."""

    #: The same on every repeat: remember the ids you have handled.
    id: str
    #: The time of this attempt.
    sent_at: datetime
    #: What happened, by its `type`.
    body: EventBody


def verify_webhook(
    keys: Sequence[str], headers: Mapping[str, str], body: bytes, now: Optional[float] = None
) -> WebhookEvent:
    """Checks a webhook and returns its event.

    `keys` are the `whsec_` secrets you trust; during a rotation the old and the new one. `headers` are those of the
    request, in any case; every framework's mapping of them will do. `body` is what was received, as bytes, before any
    parsing. `now` is in seconds since 1970, and the clock's unless given.

    Python's own library has no ed25519, so `whpk_` keys are refused; every delivery is signed under the secret, too.
    """
    secrets = [_secret(text) for text in keys]
    if not secrets:
        raise WebhookError("key")
    webhook_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _header(headers, "webhook-signature").split(" ")
    # A dot separates the signed parts; in an id it would let them change places.
    if "." in webhook_id or not re.fullmatch(r"0|[1-9][0-9]{0,17}", timestamp) or len(signatures) > _MOST_SIGNATURES:
        raise WebhookError("headers")
    if abs((time.time() if now is None else now) - int(timestamp)) > _TOLERANCE:
        raise WebhookError("timestamp")
    content = f"{webhook_id}.{timestamp}.".encode("utf-8", "replace") + body
    wanted = [b"v1," + base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()) for secret in secrets]
    got = [text.encode("utf-8", "replace") for text in signatures]
    if not any([hmac.compare_digest(want, one) for want in wanted for one in got]):
        raise WebhookError("signature")
    return WebhookEvent(webhook_id, datetime.fromtimestamp(int(timestamp), timezone.utc), _event(body))


def _secret(text: str) -> bytes:
    key = b""
    if text.startswith("whsec_"):
        try:
            key = base64.b64decode(text[len("whsec_") :], validate=True)
        except (binascii.Error, ValueError):
            pass
    if not 24 <= len(key) <= 64 or "whsec_" + base64.b64encode(key).decode() != text:
        raise WebhookError("key")  # never the key itself
    return key


def _header(headers: Mapping[str, str], name: str) -> str:
    found: List[str] = [value for key, value in headers.items() if key.lower() == name]
    if len(found) != 1 or not found[0]:
        raise WebhookError("headers")
    return found[0]


def _event(body: bytes) -> Any:
    try:
        event = json.loads(body)
    except ValueError:
        raise WebhookError("body") from None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str) or not event["type"]:
        raise WebhookError("body")
    return event
