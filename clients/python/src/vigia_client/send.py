"""Sending: which answers are final, how long to wait before another attempt.

Everything sent here is safe to repeat: reads, removals, and posts that carry the same idempotency key on every attempt.
"""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import random
import secrets
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Callable, List, Mapping, Optional, Tuple

from .errors import VigiaError

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
_DEFAULT_ATTEMPTS = 4
# How long a call goes on by default while the service cannot be reached, in seconds.
_PATIENCE = 30.0
# The longest `Retry-After` that is waited for, in seconds. A caller decides about a longer one by the error.
_LONGEST_WAIT = 60
# A bulk answer may list 10,000 refused items with all of their errors.
_LARGEST_ANSWER = 64 << 20


@dataclass
class Reply:
    """What an answer says besides its body. Pass one to a call, and it is filled when the service has answered."""

    #: In every log line of the service about this request.
    request_id: str = ""
    #: This is the kept answer to an earlier request with the same idempotency key.
    replayed: bool = False
    #: Something was left out: devices beyond the first 1,000, or events that are not kept any more.
    truncated: bool = False
    #: What a password was looked up in.
    corpus: str = ""
    #: Places in a bulk request, from 0, of what `not_created_items` is about, in the same order.
    not_created_index: List[int] = field(default_factory=list)
    #: How many of the values that the request adds, or the answer lists, wait for their first look into known breaches.
    #: Until then `monitorado` means that a value was not looked up yet.
    first_looks_waiting: int = 0
    #: When the last of the listed values will have had it, in ISO 8601; empty where none waits.
    first_looks_until: str = ""
    #: How often the request was sent.
    attempts: int = 0


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirects are answers: following one would carry the key to another address."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


class Sender:
    """Sends the requests of one partner. It may be used by many threads at once."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        attempts: Optional[int] = None,
        timeout: float = 60.0,
        ssl_context: Optional[ssl.SSLContext] = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`url` is the address of the service, with or without `/v1`; `key` the partner's API key.

        A call is sent `attempts` times at most, each for `timeout` seconds at most. Without it a call is sent 4 times
        for what the service refuses, and for as long as 30 seconds, but not fewer than 4 times, while the service
        cannot be reached. `sleep` waits between attempts.
        """
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            raise ValueError("url must be an http or https address without query")
        if not key or not key.isascii() or any(c.isspace() for c in key):
            raise ValueError("key must be the partner's API key")
        if attempts is not None and attempts < 1:
            raise ValueError("attempts must be 1 or more")
        base = url.rstrip("/")
        self._base = (base[: -len("/v1")] if base.endswith("/v1") else base) + "/v1"
        self._key = key
        self._attempts = attempts
        self._timeout = timeout
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=ssl_context))

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Any:
        """Sends until an answer is final, and returns its JSON."""
        sent = {"x-api-key": self._key, "accept": "application/json"}
        named = {"idempotency-key": idempotency_key, "x-request-id": request_id, **(headers or {})}
        sent.update({name: value for name, value in named.items() if value is not None})
        data = None
        if body is not None:
            data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")
            sent["content-type"] = "application/json"
        address = self._base + path + _query(query or {})
        refusals = 0
        spent = 0.0  # in attempts and in pauses
        for attempt in itertools.count(1):
            pause = _pause(attempt)
            began = time.monotonic()
            try:
                status, got, raw = self._send(urllib.request.Request(address, data, sent, method=method))
            except (OSError, http.client.HTTPException) as problem:
                spent += time.monotonic() - began
                if not self._waits_for_service(attempt, spent):
                    raise _no_answer(problem) from problem
                self._sleep(pause)
                spent += pause
                continue
            spent += time.monotonic() - began
            if reply is not None:
                _fill(reply, got, attempt)
            if status == 200:
                return _read(raw, got)
            refused = _refusal(status, got, raw)
            if _unreachable(refused):
                again = self._waits_for_service(attempt, spent)
            else:
                refusals += 1
                again = _worth_repeating(refused) and self._asks_again(attempt, refusals)
            if not again:
                raise refused
            pause = max(pause, refused.retry_after)
            self._sleep(pause)
            spent += pause

    def _waits_for_service(self, attempt: int, spent: float) -> bool:
        """Whether a call goes on that did not reach the service."""
        if self._attempts is not None:
            return attempt < self._attempts
        return attempt < _DEFAULT_ATTEMPTS or spent < _PATIENCE

    def _asks_again(self, attempt: int, refusals: int) -> bool:
        """Whether a call goes on that the service refused so many times.

        Attempts that did not reach the service do not count, unless the caller set a limit for all of them.
        """
        if self._attempts is not None:
            return attempt < self._attempts
        return refusals < _DEFAULT_ATTEMPTS

    def _send(self, request: urllib.request.Request) -> Tuple[int, Mapping[str, str], bytes]:
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return answer.status, answer.headers, answer.read(_LARGEST_ANSWER)
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.headers, answer.read(_LARGEST_ANSWER)


def part(value: str) -> str:
    """One segment of a path."""
    return urllib.parse.quote(value, safe="")


def key_or_random(key: Optional[str]) -> str:
    """The caller's idempotency key, or one that covers the attempts of this call."""
    return secrets.token_urlsafe(20) if key is None else key


def _query(values: Mapping[str, Any]) -> str:
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        return ""
    texts = {name: str(v).lower() if isinstance(v, bool) else str(v) for name, v in given.items()}
    return "?" + urllib.parse.urlencode(texts, quote_via=urllib.parse.quote)  # the service takes a plus as it stands


def _pause(attempt: int) -> float:
    """Doubles from attempt to attempt, up to a limit, and is spread by half, so that callers do not return at once."""
    full: float = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
    return full / 2 + random.random() * full / 2


def _unreachable(refused: VigiaError) -> bool:
    """Whether a balancer answered, as it does while the service restarts: the service's own 503 says when to come back."""
    return refused.status_code in (502, 503, 504) and refused.retry_after == 0


def _worth_repeating(refused: VigiaError) -> bool:
    """Refusals that may pass by themselves, and soon. A conflict does only where the service says when."""
    if refused.retry_after > _LONGEST_WAIT:
        return False
    return refused.status_code in (429, 500, 502, 503, 504) or (refused.status_code == 409 and refused.retry_after > 0)


def _read(raw: bytes, headers: Mapping[str, str]) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        request_id = headers.get("x-request-id", "")
        raise VigiaError(200, "the answer is no JSON", request_id=request_id, group="strange_answer") from None


def _no_answer(problem: Exception) -> VigiaError:
    """Not with the address, which may hold a CPF or a user hash: errors end up in logs."""
    why = problem.reason if isinstance(problem, urllib.error.URLError) else problem
    name = type(why if isinstance(why, Exception) else problem).__name__
    return VigiaError(0, f"no answer: {name}", group="no_answer")


def _refusal(status: int, headers: Mapping[str, str], raw: bytes) -> VigiaError:
    """A body that is not the service's own, a proxy's page say, is not repeated."""
    message = http.client.responses.get(status, "refused")
    try:
        wire = json.loads(raw)
    except ValueError:
        wire = None
    if isinstance(wire, dict) and isinstance(wire.get("message"), str) and wire["message"]:
        message = wire["message"]
    wait = headers.get("retry-after", "")
    return VigiaError(
        status,
        message,
        code=headers.get("x-error-code", ""),
        detail=headers.get("x-error-detail", ""),
        request_id=headers.get("x-request-id", ""),
        created_id=headers.get("x-created-id", ""),
        retry_after=int(wait) if wait.isascii() and wait.isdigit() else 0,  # whole seconds; the service sends no dates
    )


def _fill(reply: Reply, headers: Mapping[str, str], attempts: int) -> None:
    reply.request_id = headers.get("x-request-id", "")
    reply.replayed = headers.get("idempotency-replayed") == "true"
    reply.truncated = headers.get("x-truncated") == "true"
    reply.corpus = headers.get("x-corpus", "")
    reply.not_created_index = not_created_index(headers.get("x-not-created-index", ""))
    waiting = headers.get("x-first-looks-waiting", "")
    reply.first_looks_waiting = int(waiting) if waiting.isascii() and waiting.isdigit() else 0
    reply.first_looks_until = headers.get("x-first-looks-until", "")
    reply.attempts = attempts


def not_created_index(header: str) -> List[int]:
    """Reads places from 0 (`3,17`), runs of them (`3,17-19`), or a bit for each item in base64 (`:kAE=:`)."""
    if not header:
        return []
    try:
        if header.startswith(":"):
            raw = base64.b64decode(header.strip(":"), validate=True)
            return [at * 8 + bit for at, byte in enumerate(raw) for bit in range(8) if byte & (0x80 >> bit)]
        runs = [run.partition("-") for run in header.split(",")]
        return [n for first, _, last in runs for n in range(int(first), int(last or first) + 1)]
    except ValueError:
        return []  # not what the contract says; the items tell their CPF and plan
