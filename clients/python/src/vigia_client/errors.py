"""What a call may fail with."""

from typing import Optional

_GROUPS = {
    400: "invalid",
    401: "credentials",
    403: "credentials",
    404: "not_found",
    405: "invalid",
    409: "conflict",
    413: "too_large",
    415: "invalid",
    422: "key_reused",
    429: "rate_limited",
}


class VigiaError(Exception):
    """A call that failed: the service refused it, or there was no answer of the service after all attempts."""

    def __init__(
        self,
        status_code: int,
        message: str,
        *,
        detail: str = "",
        request_id: str = "",
        retry_after: int = 0,
        created_id: str = "",
        code: str = "",
        group: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        #: The HTTP status; 0 where there was no answer.
        self.status_code = status_code
        #: A fixed sentence in Portuguese, safe to show to people; in English where the service did not answer.
        self.message = message
        #: The field and the rule in plain ASCII; never a value that was sent. It may be empty.
        self.detail = detail
        #: In every log line of the service about this request: quote it when asking for help.
        self.request_id = request_id
        #: Seconds to wait; 0 where the service did not say.
        self.retry_after = retry_after
        #: What an earlier attempt made whose answer, with a secret in it, was lost; empty in all other refusals.
        self.created_id = created_id
        #: Names the refusal: `codes.ASSET_NOT_FOUND`, say. Empty where another than the service answered.
        self.code = code
        #: One of invalid, credentials, not_found, conflict, key_reused, too_large, rate_limited, unavailable,
        #: no_answer (nobody answered) and strange_answer (somebody did who is not the service).
        self.group = group or _group(status_code)

    def __str__(self) -> str:
        text = f"{self.status_code} {self.message}" if self.status_code else self.message
        if self.code:
            text += f", {self.code}"
        if self.detail:
            text += f" ({self.detail})"
        if self.request_id:
            text += f" [request {self.request_id}]"
        return text


def _group(status: int) -> str:
    return _GROUPS.get(status, "unavailable" if status >= 500 else "strange_answer")
