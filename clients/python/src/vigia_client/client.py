"""The client itself: the operations of the contract, and walks through what comes in pages."""

from __future__ import annotations

import hashlib
from typing import Iterator

from .operations import Operations
from .schemas import BreachFacts, EventPage, ListedSubscription, PasswordExposure

_LARGEST_PAGE = 100
_EVENTS_AT_ONCE = 500


class Vigia(Operations):
    """Calls the partner API. Methods are named after the operations of the contract, and raise `VigiaError`."""

    def check_password(self, password: str) -> PasswordExposure:
        """Whether a password is known from breaches. It is hashed here: ten hex characters of its SHA-1 are sent."""
        return self.check_password_prefix({"passwordHashPrefix": _hash_prefix(password)})

    def check_credential(self, user_hash: str, password: str) -> PasswordExposure:
        """Whether a password is known together with a value watched for a person.

        It is hashed here, as in check_password. The key needs the scope `credentials`.
        """
        return self.check_credential_prefix(
            {"userHash": user_hash, "passwordHashPrefix": _hash_prefix(password)}
        )

    def subscriptions(self) -> Iterator[ListedSubscription]:
        """Walks through all subscriptions that have not ended, oldest first.

        It is no snapshot: a subscription that ends meanwhile moves the later ones, so one of them may be missed.
        """
        number, more = 1, True
        while more:
            page = self.list_subscriptions(page=number, page_size=_LARGEST_PAGE)
            yield from page["data"]
            number, more = number + 1, page["pagination"]["has_next"]

    def breaches(self) -> Iterator[BreachFacts]:
        """Walks through the catalogue of published breaches."""
        number, more = 1, True
        while more:
            page = self.list_breaches(page=number, page_size=_LARGEST_PAGE)
            yield from page["breaches"]
            number, more = number + 1, page["hasNext"]

    def event_pages(self, after: str = "") -> Iterator[EventPage]:
        """Walks from a cursor to the newest event, page by page.

        Handle the events of a page, keep its `next`, go on: coming back with a cursor counts as having what is before.
        """
        more = True
        while more:
            page = self.list_events(after=after or None, limit=_EVENTS_AT_ONCE)
            yield page
            after, more = page["next"], page["hasMore"]


def _hash_prefix(password: str) -> str:
    return hashlib.sha1(password.encode("utf-8"), usedforsecurity=False).hexdigest()[:10]
