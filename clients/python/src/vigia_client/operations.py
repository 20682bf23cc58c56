# Code generated from internal/web/api/openapi.yaml by go generate ./clients/generate. DO NOT EDIT.
"""The operations of the contract, one method each."""

from __future__ import annotations

from typing import List, Literal, Optional

from .schemas import (
    Advice,
    Answer,
    AssetsAdded,
    BreachFacts,
    BreachPage,
    BulkOutcome,
    CaseCancellation,
    CaseDetail,
    CaseItem,
    CaseMessage,
    CaseRating,
    CaseRebooking,
    CoverList,
    Coverage,
    Credential,
    Erasure,
    ErasurePage,
    ErasureRequest,
    EventMessage,
    EventPage,
    ExtraAsset,
    Finding,
    FindingPlan,
    Key,
    KeyRolling,
    Language,
    MadeKey,
    MonitoredAsset,
    MovedProtectionKey,
    NewAssets,
    NewCase,
    NewExtraAsset,
    NewKey,
    NewMonitoredAsset,
    NewProtectionKey,
    NewSubscription,
    NewWebhook,
    OpenedCase,
    PasswordExposure,
    PasswordPrefix,
    PortalLink,
    PortalRequest,
    ProtectedDeviceList,
    ProtectionKey,
    ProtectionKeyDetail,
    ProtectionKeyMove,
    ProtectionKeyReport,
    ProtectionKeyRevocation,
    Recheck,
    Rechecked,
    Resolution,
    RiskScore,
    RiskScores,
    SandboxClock,
    ScorePoint,
    ServiceDetail,
    ServiceList,
    Statistics,
    StepMark,
    Subscription,
    SubscriptionChange,
    SubscriptionEdits,
    SubscriptionMoves,
    SubscriptionPage,
    SubscriptionState,
    SubscriptionsEdited,
    SubscriptionsMoved,
    Usage,
    UserHashes,
    Webhook,
    WebhookDetail,
    WebhookReplay,
    WebhookReplayed,
    WebhookRotation,
    WebhookSecret,
    WebhookStateChange,
    WebhookTestRequest,
    WebhookTry,
)
from .send import Reply, Sender, key_or_random, part


class Operations(Sender):
    """Every operation of the partner API, named after its operationId."""

    def add_monitored_asset(
        self,
        body: NewMonitoredAsset,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Add data for monitoring.

        Watches one value of a person for leaks, from now on and in every breach already known. Adding what is already
        there answers 200 and adds nothing.

        Adding is free. At a live partner the first look into breaches takes a token (1,000 at once and 200 an hour; the
        size that the operator set for you gives more). Without one the value waits, oldest first, and the answer has
        `x-first-looks-waiting: 1`. Until its first look no breach is compared with it: `monitorado` then means "not
        looked up yet". For `type: cpf` the user hash has to be a digest of that very CPF.

        Rules of `value` by `type`: **email** one address, at most 254 characters, compared without case. **cpf** 11
        digits, dots and dash allowed, check digits right, not eleven equal digits. **phone** Brazilian numbers with or
        without `+55`, with a known area code and nine digits for a mobile; other countries with `+`. **credit_card** 12
        to 19 digits, spaces and hyphens allowed, Luhn digit right. Sandbox partners need no right check digits.
        """
        self._call(
            "POST",
            "/cyber/monitoring",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def list_monitored_assets(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> List[MonitoredAsset]:
        """List the monitored assets of a user.

        All assets of the person, in the order they were added, with `value` as it was sent. An unknown person has an
        empty list. `status` is `monitorado` with no open finding, `alerta` with at least one, `comprometido` when an
        open finding exposed something usable against the person (password, card data, government id with identity data,
        stealer log). Where values wait for their first look, `x-first-looks-waiting` says how many and
        `x-first-looks-until` until when; `monitorado` means "not looked up yet" for these.
        """
        return self._call(
            "GET",
            f"/cyber/monitoring/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def remove_monitored_asset(
        self,
        id: str,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Remove a monitored asset.

        Ends the monitoring and erases the value. Repeating it answers 404, as does an asset of another person or of
        another partner.
        """
        self._call(
            "DELETE",
            f"/cyber/monitoring/{part(id)}/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def open_support_case(
        self,
        body: NewCase,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> OpenedCase:
        """Open a support case.

        Opens a case for a service of `GET /cyber/services`. A new case is `Aberto`; the operator moves it on through
        `Em andamento`, `Aguardando cliente`, `Resolvido` and `Fechado`, or to `Cancelado`. Elements of `appointments`
        and `questions` are objects of the partner's own making; `appointments[].appointment`, where present, is an ISO
        8601 date-time. Answers to triage questions are required only where the operator marked the question so.
        """
        return self._call(
            "POST",
            "/cyber/case",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def list_support_services(
        self,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> ServiceList:
        """List the support services.

        The services for which a case can be opened.
        """
        return self._call(
            "GET",
            "/cyber/services",
            request_id=request_id,
            reply=reply,
        )

    def issue_protection_key(
        self,
        body: NewProtectionKey,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> ProtectionKey:
        """Create an endpoint-protection key.

        Issues an antivirus activation key for a device. The same person, system and device name with a live key gets
        that key again. 409 when the plan's device limit is reached, 503 when the pool of vendor keys is empty.
        """
        return self._call(
            "POST",
            "/cyber/epp",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def list_protected_devices(
        self,
        *,
        user_hash: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> ProtectedDeviceList:
        """List protected devices.

        Devices with a live key, activated or not, newest first. The person comes from the header `x-user-hash` or the
        query `userHash`. Without either, all live devices of the calling partner, at most 1,000; `x-truncated: true`
        when there are more.
        """
        return self._call(
            "GET",
            "/cyber/epp",
            headers={"x-user-hash": user_hash},
            request_id=request_id,
            reply=reply,
        )

    def check_password_prefix(
        self,
        body: PasswordPrefix,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> PasswordExposure:
        """Check password exposure.

        Tells whether a password is in known breaches, by the first 10 hex characters (any case) of its SHA-1 or NTLM
        hash; both algorithms are looked up. The prefix is treated as a password: never logged, never cached. Without a
        corpus the answer is 503, never a false "not exposed". The built-in sample of a few thousand common passwords
        counts as a corpus for sandbox partners only. `x-corpus` names what was looked in: a hash of an algorithm that
        it does not list was not looked up.
        """
        return self._call(
            "POST",
            "/cyber/password-check",
            body=body,
            request_id=request_id,
            reply=reply,
        )

    def list_advice(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> List[Advice]:
        """Educational content for a user.

        What applies to this person, most urgent first. `userId` is the user hash as it was sent. An item with
        `validationQuestion` can be answered with the extension `POST /cyber/advise/{userhash}/answers`.
        """
        return self._call(
            "GET",
            f"/cyber/advise/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def risk_score(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> RiskScore:
        """Risk score of a user.

        Two figures from 0 (best) to 100. An unknown person has `breachScore` 0. The recommendations say what would
        lower them, most urgent first.
        """
        return self._call(
            "GET",
            f"/cyber/score/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def insurance_coverage(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Coverage:
        """Insurance coverage of a user.

        Cover of the plan of the person's subscription in force (the highest limit if there are several), else of the
        partner's default plan, else 404.
        """
        return self._call(
            "GET",
            f"/cyber/insurance/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def create_subscriptions(
        self,
        body: List[NewSubscription],
        *,
        dry_run: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> BulkOutcome:
        """Create subscriptions in bulk.

        Each item stands alone: a bad one is reported in `not_created_items`, in the order of the request, with all of
        its errors as `campo: regra`; the others are created and are on disk when the answer arrives. The header
        `x-not-created-index` gives the places of the failed ones in the request. A body that is not JSON or not an
        array is a 400 and creates nothing, as does any 5xx; a member name twice, text that is not UTF-8 or half of a
        surrogate pair in any item is not JSON. At most 10,000 items and 32 MiB; an item above 1 MiB makes the whole
        body too large (413), and nothing is created.

        A subscription of the same partner, plan and CPF that has not ended makes an item fail (`assinatura já existe`,
        listed beside other errors of the item), as does an earlier one of the same request that was created. `plan_id`
        must be registered for the partner (sandbox: registered on first use).

        A plan may watch the e-mail address, the CPF and the phone number of its subscriptions; the header
        `x-watched-values` counts what is watched from now on.
        """
        return self._call(
            "POST",
            "/subscriptions",
            query={"dry_run": dry_run},
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def list_subscriptions(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> SubscriptionPage:
        """List active subscriptions.

        Every subscription of the partner that has not ended, oldest first. One whose expiry date is over in
        America/Sao_Paulo has ended, from midnight on. Past the last page `data` is empty and the totals are true.
        """
        return self._call(
            "GET",
            "/subscriptions",
            query={"page": page, "page_size": page_size},
            request_id=request_id,
            reply=reply,
        )

    def subscription_by_plan_and_cpf(
        self,
        plan_id: str,
        beneficiary_cpf: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Subscription:
        """Get one subscription.

        The subscription of this plan and CPF that has not ended, else the latest one that ended. If it was ended before
        its expiry date, `expiry_date` is the day of its end.
        """
        return self._call(
            "GET",
            f"/subscriptions/{part(plan_id)}/{part(beneficiary_cpf)}",
            request_id=request_id,
            reply=reply,
        )

    def change_subscription(
        self,
        plan_id: str,
        beneficiary_cpf: str,
        body: Optional[SubscriptionChange] = None,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> SubscriptionState:
        """End, suspend, resume or edit a subscription.

        **Extension, additive.** Changes the subscription in force: either a `move`, or new values for the members
        named. A suspended subscription keeps its place and pauses its cover; an ended one stays ended. A move to where
        it already is answers 200 and changes nothing. The events `subscription.ended`, `subscription.suspended` and
        `subscription.resumed` report moves. New values follow the rules of an enrolment, and when one is refused none
        is taken. Where the plan watches, a new e-mail address or phone number replaces the watched one. An edit is a
        line of the operator's audit trail, without the values.
        """
        return self._call(
            "POST",
            f"/subscriptions/{part(plan_id)}/{part(beneficiary_cpf)}/changes",
            body=body or {},
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def move_subscriptions(
        self,
        body: SubscriptionMoves,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> SubscriptionsMoved:
        """End, suspend or resume up to 1,000 subscriptions.

        **Extension, additive.** The same `move` for the subscriptions of many people to one plan. A subscription that
        is not in force does not stop the others; the answer names it by its place, from 0.
        """
        return self._call(
            "POST",
            "/subscription-moves",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def edit_subscriptions(
        self,
        body: SubscriptionEdits,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> SubscriptionsEdited:
        """Edit up to 1,000 subscriptions.

        **Extension, additive.** New values for the subscriptions of many people to one plan, each with its own. The
        rules are those of `POST /subscriptions/{plan_id}/{beneficiary_cpf}/changes`. An item that is refused does not
        stop the others: its subscription stays as it was, and the answer names it by its place, from 0, with all its
        errors. At most 512 KiB.
        """
        return self._call(
            "POST",
            "/subscription-changes",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def list_findings(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> List[Finding]:
        """List the findings behind the statuses.

        **Extension, additive.** Every finding of the person's monitored assets, newest first, open and resolved: where
        the value was found and what was exposed with it. Never the exposed data itself.
        """
        return self._call(
            "GET",
            f"/cyber/findings/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def add_extra_asset(
        self,
        body: NewExtraAsset,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Add a random Pix key or a CNPJ for monitoring.

        **Extension, additive.** Watches a value of a kind that the contract does not have. Such values are listed and
        removed by the operations beside this one; the contract's own neither show nor take them. What is found of them
        is told by `/cyber/findings/{userhash}` and by events, and counts in advice and score. They count towards the
        same limit of values for one person.

        Rules of `value` by `type`: **pix_key** a random key: a UUID of version 4 with hyphens, compared without case.
        Keys that are a CPF, a phone or an e-mail address are those types. **cnpj** 12 letters or digits and two check
        digits, with or without punctuation, compared without case. Sandbox partners need no right check digits.
        """
        self._call(
            "POST",
            "/cyber/monitoring/extra",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def list_extra_assets(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> List[ExtraAsset]:
        """List the monitored Pix keys and CNPJs of a user.

        **Extension, additive.** The values that were added by `POST /cyber/monitoring/extra` or by the operator, in the
        order they were added. An unknown person has an empty list.
        """
        return self._call(
            "GET",
            f"/cyber/monitoring/extra/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def remove_extra_asset(
        self,
        id: str,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Remove a monitored Pix key or CNPJ.

        **Extension, additive.** Ends the monitoring and erases the value. Repeating it answers 404, as does an asset of
        another person or of another partner.
        """
        self._call(
            "DELETE",
            f"/cyber/monitoring/extra/{part(id)}/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def list_cover(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> CoverList:
        """Every cover in force of a user, with sub-limits and waiting period.

        **Extension, additive.** Every plan that covers the person today (America/Sao_Paulo), the highest limit first:
        the first is what `/cyber/insurance/{userhash}` answers. With it come what that answer has no place for:
        sub-limits, the waiting period and the day from which the person is covered, and the dates of the subscription.
        Else the partner's default plan, else 404.
        """
        return self._call(
            "GET",
            f"/cyber/cover/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def score_history(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> List[ScorePoint]:
        """How the risk score of a user changed.

        **Extension, additive.** The days (of Brasília) on which the score was asked for and had changed, oldest first,
        with the last score of each: a day that is not listed has the score of the one before. Empty when the score was
        never asked for. Days are kept as long as the operator keeps them (`--keep-scores`).
        """
        return self._call(
            "GET",
            f"/cyber/score/{part(user_hash)}/history",
            request_id=request_id,
            reply=reply,
        )

    def open_portal_session(
        self,
        body: PortalRequest,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> PortalLink:
        """Make a link to a person's own page.

        **Extension, additive.** A link to the pages on which a person sees what leaked, what to do, their risk,
        devices, cases and cover, in your colours. Give it only to the person who is logged in with you: whoever opens
        it within 15 minutes sees that person's page for up to an hour. It may be opened more than once. Suspending the
        partner or erasing the person closes it at once. A person about whom nothing is held answers 404. A key that may
        not read subscriptions gives a page without the copy of everything that is held.
        """
        return self._call(
            "POST",
            "/cyber/portal-session",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def get_protection_key(
        self,
        key: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> ProtectionKeyDetail:
        """Read one key.

        **Extension, additive.** The state of a key: `issued` until the device reports, then `active`, at last `ended`,
        with the reason. Only an active key protects, in score and advice too. `installLink` is where the person
        installs the program of their system, `installLinks` those of all systems that the operator set.
        """
        return self._call(
            "GET",
            f"/cyber/epp/{part(key)}",
            request_id=request_id,
            reply=reply,
        )

    def activate_protection_key(
        self,
        key: str,
        body: Optional[ProtectionKeyReport] = None,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Report that a key was activated.

        **Extension, additive.** Reports that the program on the device accepted the key: from now on the device is
        protected. The first time causes the event `epp.key_activated`. Sent by you, or by the vendor of the antivirus
        without `x-api-key` and signed in the form of our webhooks: then the body says `eppKey` and `report` as the path
        does. A key that ended answers 409.
        """
        self._call(
            "POST",
            f"/cyber/epp/{part(key)}/activate",
            body=body or {},
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def heartbeat_protection_key(
        self,
        key: str,
        body: Optional[ProtectionKeyReport] = None,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Report that a device is still protected.

        **Extension, additive.** Reports that the program on the device runs, and sets `lastSeenAt`, exact to ten
        minutes. A key that was not active becomes active, since the report of its activation may have been lost. Sent
        by you or, signed, by the vendor, as for `activate`.
        """
        self._call(
            "POST",
            f"/cyber/epp/{part(key)}/heartbeat",
            body=body or {},
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def revoke_protection_key(
        self,
        key: str,
        body: ProtectionKeyRevocation,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Revoke a key.

        **Extension, additive.** Ends a key of this person before its time; revoking a revoked one answers 200 and
        changes nothing, one that ended otherwise 409. Causes the event `epp.key_ended`.
        """
        self._call(
            "POST",
            f"/cyber/epp/{part(key)}/revoke",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def move_protection_key(
        self,
        key: str,
        body: ProtectionKeyMove,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> MovedProtectionKey:
        """Move the protection to another device.

        **Extension, additive.** Ends the key and issues one for another device of the same person, valid until the same
        time. The plan's limit of devices is not checked; from a pool, the new key counts against your share. 409 when
        that device has a live key already. Causes the event `epp.key_ended` with the reason `moved` and the new key's
        id.
        """
        return self._call(
            "POST",
            f"/cyber/epp/{part(key)}/move",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def get_service(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> ServiceDetail:
        """Read what a service asks and when it is free.

        **Extension, additive.** The service with its triage questions and the coming times of its calendar that your
        people can still have, the soonest first, at most 200. A service without a calendar has no times and takes no
        appointments.
        """
        return self._call(
            "GET",
            f"/cyber/services/{part(id)}",
            request_id=request_id,
            reply=reply,
        )

    def list_cases(
        self,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> List[CaseItem]:
        """List the cases of a person.

        **Extension, additive.** The newest 200, newest first, whatever their status.
        """
        return self._call(
            "GET",
            f"/cyber/cases/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def get_case(
        self,
        id: str,
        user_hash: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> CaseDetail:
        """Read a case.

        **Extension, additive.** A case of a person with what you sent and its history: moves, messages both ways,
        attachments, appointments, the rating. What the operator notes for themselves is not in it.
        """
        return self._call(
            "GET",
            f"/cyber/case/{part(id)}/history/{part(user_hash)}",
            request_id=request_id,
            reply=reply,
        )

    def reply_to_case(
        self,
        id: str,
        body: CaseMessage,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Write in a case.

        **Extension, additive.** Adds a message of the person, with a text as attachment if you like. A case that waited
        for them is `Em andamento` again, a resolved one `Aberto`; a closed or cancelled one answers 409. Causes the
        event `case.message_added`.
        """
        self._call(
            "POST",
            f"/cyber/case/{part(id)}/messages",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def cancel_case(
        self,
        id: str,
        body: CaseCancellation,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Cancel a case.

        **Extension, additive.** Ends a case that the person does not need any more and gives its appointment back.
        Cancelling a cancelled one answers 200 and changes nothing; a resolved or closed one answers 409. Causes the
        event `case.status_changed`.
        """
        self._call(
            "POST",
            f"/cyber/case/{part(id)}/cancel",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def rebook_case(
        self,
        id: str,
        body: CaseRebooking,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> CaseItem:
        """Take another appointment.

        **Extension, additive.** Takes the first of the times that is free and gives back the one that the case holds;
        if none is free (409) it keeps it. Same rules as for opening a case. Causes the event
        `case.appointment_changed`.
        """
        return self._call(
            "POST",
            f"/cyber/case/{part(id)}/rebook",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def rate_case(
        self,
        id: str,
        body: CaseRating,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Rate a case.

        **Extension, additive.** What the person thought of a resolved or closed case; a later rating replaces an
        earlier one. Any other status answers 409. Causes the event `case.rated`.
        """
        self._call(
            "POST",
            f"/cyber/case/{part(id)}/rate",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def get_plan(
        self,
        id: str,
        user_hash: str,
        *,
        lang: Optional[Language] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> FindingPlan:
        """Read what to do about a finding.

        **Extension, additive.** The steps by which the person deals with a finding, in the order in which they are best
        done: what, why, where, how long it takes and until when. They follow from what stood in the person's own
        record; where only the breach as a whole is known (basis `breach`), only steps that make sense without certainty
        are listed, and they say so. The plan of a resolved finding is shown as it stands.
        """
        return self._call(
            "GET",
            f"/cyber/findings/{part(id)}/plan/{part(user_hash)}",
            query={"lang": lang},
            request_id=request_id,
            reply=reply,
        )

    def mark_step(
        self,
        id: str,
        step: str,
        body: StepMark,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Say what became of a step.

        **Extension, additive.** Keeps that the person has done a step of the plan, does not want to do it, or still has
        to. Saying the same again answers 200 and changes nothing; a step that is not in the plan is a 404, and the plan
        of a resolved finding a 409. A step alone changes neither status nor score: ask for a re-check once they are
        done.
        """
        self._call(
            "POST",
            f"/cyber/findings/{part(id)}/steps/{part(step)}",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def recheck_finding(
        self,
        id: str,
        body: Recheck,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Rechecked:
        """Look at a finding again after its steps.

        **Extension, additive.** With no step left the finding is resolved, for the reason that its steps give, and the
        status of the asset, the score and the advice are computed again. Otherwise the answer says what is left: steps
        that are to be done, and essential ones that were skipped. A resolved finding is answered as it stands.
        """
        return self._call(
            "POST",
            f"/cyber/findings/{part(id)}/recheck",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def resolve_finding(
        self,
        id: str,
        body: Resolution,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Resolve a finding.

        **Extension, additive.** Tells that the person has dealt with a finding. The status of the asset, the score and
        the advice are computed again; with no finding open the asset is `monitorado`. Resolving a resolved one answers
        200 and changes nothing.
        """
        self._call(
            "POST",
            f"/cyber/findings/{part(id)}/resolve",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def check_credential_prefix(
        self,
        body: Credential,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> PasswordExposure:
        """Check a password of a person.

        **Extension, additive.** Tells whether a password is known *together with one of the values that are watched for
        this person*: the two stood in one record of a breach. The password is named by the first 10 hex characters (any
        case) of its SHA-1. Ten characters do not tell their algorithm, so an NTLM prefix is not refused; it is not
        known here. `exposed: false` means that no breach with pairs holds the two together. It is also the answer for a
        person with no watched value. When not every breach can be asked the answer is 503, never a false "not exposed".
        The prefix is treated as a password: never logged, never cached. The key needs the scope `credentials`, which no
        other scope includes. At a live partner a value is asked about 24 hours after it was added, at once if the
        enrolment names it, and after its first look; 409 when the person has values and none of them is so far. Each
        value can be asked about 20 times a day (of Brasília), by all partners and for all people together; beyond, 429.
        In the sandbox the password "password" is known together with the documented e-mail addresses.
        """
        return self._call(
            "POST",
            "/cyber/credential-check",
            body=body,
            request_id=request_id,
            reply=reply,
        )

    def answer_validation_question(
        self,
        user_hash: str,
        body: Answer,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Answer a validation question.

        **Extension, additive.** Stores the person's answer to the `validationQuestion` of an advice item; it feeds
        `assessmentScore`. A later answer replaces an earlier one. 404 when the item is unknown or asks nothing.
        """
        self._call(
            "POST",
            f"/cyber/advise/{part(user_hash)}/answers",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def message_of_event(
        self,
        id: str,
        channel: Literal["email", "sms", "whatsapp", "push"],
        *,
        lang: Optional[Literal["pt-BR", "es", "en"]] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> EventMessage:
        """A ready message about an event.

        **Extension, additive.** What to send to the person, by e-mail (with `html`), SMS (at most 160 characters of the
        GSM alphabet), WhatsApp (`template`: what to register at Meta and its parameters) or push. The operator can
        change texts for all partners or for you. Never holds a personal value in the clear. 404 for an event that
        people are not told of.
        """
        return self._call(
            "GET",
            f"/events/{part(id)}/message",
            query={"channel": channel, "lang": lang},
            request_id=request_id,
            reply=reply,
        )

    def list_events(
        self,
        *,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        newest: Optional[bool] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> EventPage:
        """Read events by cursor.

        **Extension, additive.** Every event of the partner of the last 30 days that the key may read, in order: the
        same bodies that are pushed to webhooks. `subscription.*` events need a scope of subscriptions, `webhook.test`
        any scope, all others one of cyber. Start without `after`; then pass `next` of the last answer. `next` is there
        even when nothing new came, so that the same loop polls for ever. Coming back with a cursor counts as having
        received everything up to it in these areas. `x-truncated: true` says that events right behind the cursor are
        not kept any more. After the service went back to an older backup, a cursor that stands behind a lost event is a
        400: start again without `after`, and skip the ids you have. An event spells `userHash` as your last request did
        that wrote something about the person (POST or DELETE under `/cyber`); 512 bits in hex where there was none.
        """
        return self._call(
            "GET",
            "/events",
            query={"after": after, "limit": limit, "newest": newest},
            request_id=request_id,
            reply=reply,
        )

    def list_breaches(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> BreachPage:
        """List the published breaches.

        **Extension, additive.** The public description of every published breach, newest first, and nothing about the
        people in it. Breaches that are being imported or were withdrawn are not listed. Sandbox partners see the
        made-up breach too. More than 100 to a page count as 100.
        """
        return self._call(
            "GET",
            "/cyber/breaches",
            query={"page": page, "page_size": page_size},
            request_id=request_id,
            reply=reply,
        )

    def get_breach(
        self,
        name: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> BreachFacts:
        """Read a published breach.

        **Extension, additive.** The facts of one breach, by the `name` that findings and events carry.
        """
        return self._call(
            "GET",
            f"/cyber/breaches/{part(name)}",
            request_id=request_id,
            reply=reply,
        )

    def list_webhooks(
        self,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> List[Webhook]:
        """List your webhooks.

        **Extension, additive.** Scope `manage:read`. The endpoints that your events are pushed to, oldest first.
        Addresses are shown without their query, where receivers keep tokens.
        """
        return self._call(
            "GET",
            "/webhooks",
            request_id=request_id,
            reply=reply,
        )

    def create_webhook(
        self,
        body: NewWebhook,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> WebhookSecret:
        """Register a webhook.

        **Extension, additive.** Scope `manage`. From now on events of the named types are pushed to the address,
        signed; without types all of them. The types have to be ones whose events the calling key may read itself. The
        address needs `https` and a host that resolves to public addresses only. At most 50 for a partner. The secret is
        shown here and never again.
        """
        return self._call(
            "POST",
            "/webhooks",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def get_webhook(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> WebhookDetail:
        """Read a webhook and how it fares.

        **Extension, additive.** Scope `manage:read`. `health` counts the newest 1,000 deliveries: those that arrived,
        those given up, the share that arrived in percent (absent before the first is over), how long one is under way
        on average, what waits, and the last try.
        """
        return self._call(
            "GET",
            f"/webhooks/{part(id)}",
            request_id=request_id,
            reply=reply,
        )

    def remove_webhook(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Remove a webhook.

        **Extension, additive.** Scope `manage`. Nothing is pushed there any more, and what waited is dropped. Events
        can still be read by cursor. Removing what is gone is a 404.
        """
        self._call(
            "DELETE",
            f"/webhooks/{part(id)}",
            request_id=request_id,
            reply=reply,
        )

    def set_webhook_state(
        self,
        id: str,
        body: WebhookStateChange,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Webhook:
        """Pause or resume a webhook.

        **Extension, additive.** Scope `manage`. While it is `paused` events are held; `enabled` pushes them, the held
        ones first.
        """
        return self._call(
            "POST",
            f"/webhooks/{part(id)}/state",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def rotate_webhook_secret(
        self,
        id: str,
        body: WebhookRotation,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> WebhookSecret:
        """Replace the secret of a webhook.

        **Extension, additive.** Scope `manage`. Makes a new secret and a new signing key. The old ones sign beside them
        for `overlapHours` more, 0 to 168, so that receivers can change over; 0 ends them at once. The secret is shown
        here and never again.
        """
        return self._call(
            "POST",
            f"/webhooks/{part(id)}/rotate",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def test_webhook(
        self,
        id: str,
        body: WebhookTestRequest,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> WebhookTry:
        """Send a test to a webhook.

        **Extension, additive.** Scope `manage`. Sends one made-up event of a type now, whatever the filter and state of
        the webhook, and answers what came of it. It is signed and has the body of a real one; its `userHash` is always
        `e3d5a09299b744db42dc2031f023b71bc37742aa00b1a372b694262a92d43e37`, which names no person. `GET /events` shows
        it as a `webhook.test` of the same id. It is tried once. A repeat under the same idempotency key answers the
        same and may send another test.
        """
        return self._call(
            "POST",
            f"/webhooks/{part(id)}/test",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def advance_sandbox_clock(
        self,
        body: SandboxClock,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Let days pass in the sandbox.

        **Extension, additive.** Scope `manage`, for sandbox partners; to a live one it is a 404. Everything that the
        partner has becomes `days` older: subscriptions, findings and their steps, antivirus keys, cases with their
        appointments, erasures that were asked for, and the ends of API keys. What becomes due by that happens before
        the answer comes, with its events. There is no way back; times in answers are earlier by as much, and events
        carry the real time.
        """
        self._call(
            "POST",
            "/sandbox/clock",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def replay_webhook(
        self,
        id: str,
        body: Optional[WebhookReplay] = None,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> WebhookReplayed:
        """Push events again.

        **Extension, additive.** Scope `manage`. Pushes again what is selected, whether it arrived before or not: one
        `event`, the events `from` a time (and before `to`), or all deliveries that were given up (`failed`). Exactly
        one of the three. Receivers tell repeats by `webhook-id`.
        """
        return self._call(
            "POST",
            f"/webhooks/{part(id)}/replay",
            body=body or {},
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def list_keys(
        self,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> List[Key]:
        """List your API keys.

        **Extension, additive.** Scope `manage:read`. Every key of the partner, oldest first, revoked and expired ones
        too. Only the beginning of each key is shown; `calling` marks the one that asks, and `madeBy` names the key that
        made it, with which it ends.
        """
        return self._call(
            "GET",
            "/keys",
            request_id=request_id,
            reply=reply,
        )

    def create_key(
        self,
        body: NewKey,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> MadeKey:
        """Make an API key.

        **Extension, additive.** Scope `manage`. A key with some of the scopes of the calling key, never more. It ends
        with the calling key at the latest, also when that is revoked. At most 100 keys in force. The key is shown here
        and never again.
        """
        return self._call(
            "POST",
            "/keys",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def roll_key(
        self,
        id: str,
        body: KeyRolling,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> MadeKey:
        """Replace an API key.

        **Extension, additive.** Scope `manage`. Makes a key with the same label and scopes; the old one stays valid for
        `graceHours` more, 0 to 168. A key replaces only keys that may do no more than itself. The new one ends when the
        old one would have, at the latest.
        """
        return self._call(
            "POST",
            f"/keys/{part(id)}/roll",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def revoke_key(
        self,
        id: str,
        *,
        self_: Optional[bool] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Revoke an API key.

        **Extension, additive.** Scope `manage`. Ends the key, the keys it made and those that they made, everywhere
        within two seconds. A key revokes only keys that may do no more than itself. To revoke the calling key itself
        give `self=true`, otherwise it is a 400. When the calling key replaced the revoked one, it stays valid unless
        `self=true` is given.
        """
        self._call(
            "DELETE",
            f"/keys/{part(id)}",
            query={"self": self_},
            request_id=request_id,
            reply=reply,
        )

    def list_erasures(
        self,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> ErasurePage:
        """List the open erasures.

        **Extension, additive.** Scope `privacy`. The requests that are neither completed nor cancelled, newest first,
        whoever made them: a key, or an officer in the portal. More than 100 to a page count as 100.
        """
        return self._call(
            "GET",
            "/erasures",
            query={"page": page, "page_size": page_size},
            request_id=request_id,
            reply=reply,
        )

    def request_erasure(
        self,
        body: ErasureRequest,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Erasure:
        """Ask for the erasure of a person.

        **Extension, additive.** Scope `privacy`, which no key has unless it was asked for. Everything that you hold
        about the person is erased when 24 hours have passed; until then it can be cancelled. The erasure takes what is
        held when it begins, enrolled before the request or after: to keep a person whom you enrol again, cancel it. A
        person has one open request; asking again answers with that one. Neither the answer nor the time that it takes
        shows whether the person is known. The events `erasure.requested`, `erasure.cancelled` and `erasure.completed`
        report it. In the sandbox, moving the clock makes the erasure due.
        """
        return self._call(
            "POST",
            "/erasures",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def get_erasure(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Erasure:
        """Follow an erasure.

        **Extension, additive.** Scope `privacy`. Once the erasure is completed or cancelled the answer names no person
        any more.
        """
        return self._call(
            "GET",
            f"/erasures/{part(id)}",
            request_id=request_id,
            reply=reply,
        )

    def cancel_erasure(
        self,
        id: str,
        *,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> None:
        """Cancel an erasure.

        **Extension, additive.** Scope `privacy`. Possible until the erasure begins; then it is a 409. One that is
        cancelled already answers 200 again.
        """
        self._call(
            "DELETE",
            f"/erasures/{part(id)}",
            request_id=request_id,
            reply=reply,
        )

    def get_usage(
        self,
        *,
        days: Optional[int] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Usage:
        """Read what you use and what is left.

        **Extension, additive.** For every key. The rate of requests, each budget with what is used and left of it, how
        many first looks of new values can be made and how many values wait (not at sandbox partners, which are not
        paced), and the requests of the last `days` by operation. Days are those of Brasília. The counts are up to a
        minute old and kept for 90 days.
        """
        return self._call(
            "GET",
            "/usage",
            query={"days": days},
            request_id=request_id,
            reply=reply,
        )

    def add_assets(
        self,
        body: NewAssets,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> AssetsAdded:
        """Add up to 1,000 values for monitoring.

        **Extension, additive.** Each item is what `POST /cyber/monitoring` takes, and is held to the same rules. A
        refused item does not stop the others: the answer names it by its place, from 0, with the sentence and the
        detail that the single request would have had. First looks begin right after the answer, as far as there are
        tokens: `x-first-looks-waiting` says how many of the items still wait for theirs, and `GET /usage` until when.
        Items count against the same limit as those of a bulk enrolment.

        Items are kept in batches of 250. When the service fails on the way, `x-error-detail` of the 503 says how many
        items, from the first, were decided; send the list again, nothing is added twice. With an idempotency key the
        list is kept whole or not at all.
        """
        return self._call(
            "POST",
            "/cyber/assets",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def risk_scores(
        self,
        body: UserHashes,
        *,
        idempotency_key: Optional[str] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> RiskScores:
        """Read the scores of up to 1,000 people.

        **Extension, additive.** The two numbers of `GET /cyber/score/{userhash}` for each of the people, in the order
        asked for. A user hash that breaks its rule has a `detail` instead. A repeat under the same idempotency key
        answers with the present numbers.
        """
        return self._call(
            "POST",
            "/cyber/scores",
            body=body,
            idempotency_key=key_or_random(idempotency_key),
            request_id=request_id,
            reply=reply,
        )

    def get_statistics(
        self,
        *,
        days: Optional[int] = None,
        request_id: Optional[str] = None,
        reply: Optional[Reply] = None,
    ) -> Statistics:
        """Read statistics by day.

        **Extension, additive.** Scope `manage:read`. For each of the last `days`, oldest first: findings made, alerts
        (`monitoring.leak_detected`), subscriptions created and cases opened. Days are those of Brasília; today's
        numbers are some minutes old.
        """
        return self._call(
            "GET",
            "/statistics",
            query={"days": days},
            request_id=request_id,
            reply=reply,
        )
