# Code generated from internal/web/api/openapi.yaml by go generate ./clients/generate. DO NOT EDIT.
"""The shapes of the contract's requests and answers: what JSON they are, member by member."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

#: `domain` appears only in listings: the operator adds domains.
AssetType = Literal["email", "cpf", "phone", "credit_card", "domain"]

AssetStatus = Literal["monitorado", "alerta", "comprometido"]

OperatingSystem = Literal["android", "ios", "windows", "macos"]

#: `pix_key` and `cnpj` are those of `/cyber/monitoring/extra`.
WatchedType = Literal["email", "cpf", "phone", "credit_card", "domain", "pix_key", "cnpj"]

#: What `exposed` is known from. `row`: it stood in the person's own records of the breach. `breach`: only what the
#: breach as a whole exposed is known.
Basis = Literal["row", "breach"]

Severity = Literal["low", "medium", "high", "critical"]

ExtraType = Literal["pix_key", "cnpj"]

KeyEndReason = Literal["expired", "revoked", "moved", "subscription", "erased"]

CaseStatus = Literal["Aberto", "Em andamento", "Aguardando cliente", "Resolvido", "Fechado", "Cancelado"]

Language = Literal["pt-BR", "es", "en"]

StepState = Literal["todo", "done", "skipped"]

ResolutionReason = Literal["password_changed", "account_closed", "card_replaced", "not_me", "other"]

EventType = Literal[
    "monitoring.leak_detected", "monitoring.status_changed", "monitoring.first_looks_changed", "case.status_changed",
    "case.message_added", "case.appointment_changed", "case.rated", "epp.key_expiring", "epp.key_activated",
    "epp.key_ended", "finding.step_due", "subscription.ended", "subscription.suspended", "subscription.resumed",
    "erasure.requested", "erasure.cancelled", "erasure.completed", "webhook.test",
]

#: Why it is paused. `asked`: you or the operator paused it. `gone`: the receiver answered 410. `failing`: nothing but
#: failures for five days.
PauseReason = Literal["asked", "gone", "failing"]

Scope = Literal[
    "cyber", "cyber:read", "subscriptions", "subscriptions:read", "credentials", "manage", "manage:read", "privacy",
]

#: `pending` can be cancelled. `erasing` has begun. `completed` and `cancelled` are over.
ErasureState = Literal["pending", "erasing", "completed", "cancelled"]


class NewMonitoredAsset(TypedDict):
    #: The value to monitor.
    value: str
    type: Literal["email", "cpf", "phone", "credit_card"]
    userHash: str


class MonitoredAsset(TypedDict):
    id: str
    type: AssetType
    #: The monitored value, as it was sent.
    value: str
    status: AssetStatus


class Appointment(TypedDict, total=False):
    #: ISO 8601 date-time, extended or basic, from 1970 on; seconds may be left out. Without an offset it is Brasília
    #: time.
    appointment: str


class TriageAnswer(TypedDict, total=False):
    """One answer. The question is named by `questionId`, `id` or `question`, its answer by `answer` or `value`; of
    several the first that holds a text, a number, true or false counts. Other members are kept as they were sent, as is
    an element that names no question.
    """

    questionId: Optional[
        Union[Dict[str, Any], List[Optional[Union[Dict[str, Any], bool, float, str]]], bool, float, str]
    ]
    id: Optional[Union[Dict[str, Any], List[Optional[Union[Dict[str, Any], bool, float, str]]], bool, float, str]]
    question: Optional[Union[Dict[str, Any], List[Optional[Union[Dict[str, Any], bool, float, str]]], bool, float, str]]
    answer: Optional[Union[Dict[str, Any], List[Optional[Union[Dict[str, Any], bool, float, str]]], bool, float, str]]
    value: Optional[Union[Dict[str, Any], List[Optional[Union[Dict[str, Any], bool, float, str]]], bool, float, str]]


class _NewCase(TypedDict):
    serviceId: str
    userHash: str


class NewCase(_NewCase, total=False):
    #: Preferred attendance times, best first.
    appointments: Optional[List[Appointment]]
    #: Answers to the service's triage questions.
    questions: Optional[List[TriageAnswer]]


class Task(TypedDict):
    id: str
    status: Literal["Aberto"]
    #: ISO 8601, UTC, with milliseconds.
    creationDate: str
    serviceId: str


class OpenedCase(TypedDict):
    msg: str
    task: Task


class Service(TypedDict):
    _id: str
    name: str
    description: str


class ServiceList(TypedDict):
    services: List[Service]


class NewProtectionKey(TypedDict):
    operatingSystem: OperatingSystem
    type: Literal["antivirus"]
    #: Friendly name of the device, 1 to 100 printable characters. Spaces at both ends are taken off.
    deviceName: str
    userHash: str


class ProtectionKey(TypedDict):
    #: Activation key.
    eppKey: str
    #: ISO 8601, UTC, with milliseconds.
    validUntil: str


class ProtectedDevice(TypedDict):
    operatingSystem: OperatingSystem
    deviceName: str
    #: Activation key.
    eppKey: str
    #: ISO 8601, UTC, with milliseconds.
    validUntil: str


class ProtectedDeviceList(TypedDict):
    protectedDevices: List[ProtectedDevice]


class PasswordPrefix(TypedDict):
    #: The first 10 characters of the SHA-1 or NTLM hash of the password, in hex, any case.
    passwordHashPrefix: str


class PasswordExposure(TypedDict):
    exposed: bool
    recommendations: List[str]


class AnswerOption(TypedDict):
    value: str
    label: str


class _Advice(TypedDict):
    #: Content catalogue id.
    catalogId: str
    #: The user hash as it was sent.
    userId: str
    type: Literal["advice", "alert", "tip"]
    title: str
    body: str
    deviceType: Literal["mobile", "desktop", "all"]


class Advice(_Advice, total=False):
    validationQuestion: str
    #: There when the question has options.
    answerOptions: List[AnswerOption]


class RiskScore(TypedDict):
    #: Based on data leaks; 0 is best.
    breachScore: float
    #: Based on assessments; 0 is best.
    assessmentScore: float
    recommendations: List[str]


class CoverageDetails(TypedDict):
    plano: str
    limiteCobertura: float
    tipoCobertura: List[str]
    condições: str
    exclusões: str


class Coverage(TypedDict):
    detalhesCobertura: CoverageDetails


class _Address(TypedDict):
    zipcode: str
    street: str
    number: str
    neighborhood: str
    city: str
    state: Literal[
        "AC", "AL", "AP", "AM", "BA", "CE", "DF", "ES", "GO", "MA", "MT", "MS", "MG", "PA", "PB", "PR", "PE", "PI",
        "RJ", "RN", "RS", "RO", "RR", "SC", "SP", "SE", "TO",
    ]


class Address(_Address, total=False):
    complement: Optional[str]


class Beneficiary(TypedDict):
    #: Primary card number.
    primary_card: str
    #: User card number.
    user_card: str
    #: Full name.
    name: str
    cpf: str
    #: ISO 8601 date, not in the future.
    birth_date: str
    gender: Literal["M", "F"]
    email: str
    #: With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with
    #: its area code are taken as Brazilian.
    phone_number: str
    address: Address


class _NewSubscription(TypedDict):
    #: `YYYY-MM-DD`; a full date-time is accepted and its date counts.
    start_date: str
    #: Not before the start; empty or null means no end date.
    expiry_date: Optional[str]
    plan_id: str
    #: True for a group subscription.
    is_group_plan: bool
    beneficiary: Beneficiary


class NewSubscription(_NewSubscription, total=False):
    #: A whole number of 50 or more, as a string (a number is accepted). Required when `is_group_plan` is true.
    group_size: Optional[Union[int, str]]
    #: CNPJ of the benefit holder, capital letters allowed in its first twelve places, check digits right (not required
    #: of sandbox partners). Required when `is_group_plan` is true.
    benefit_holder: Optional[str]
    #: A string that holds valid JSON, at most 8,192 bytes of UTF-8. Bytes and not characters, so no `maxLength` says
    #: it.
    partner_metadata: Optional[str]
    #: The partner's own reference.
    partner_internal_id: Optional[str]


class _NotCreated(TypedDict):
    #: As it was sent, a number by its digits; empty when the item has none.
    cpf: str
    #: As it was sent; empty when the item has none.
    plan_id: str
    #: All errors of the item, each as `campo: regra`.
    errors: List[str]


class NotCreated(_NotCreated, total=False):
    #: If applicable.
    benefit_holder: str


class BulkOutcome(TypedDict):
    result: Literal["success", "partial_success", "failure"]
    total_created_items: int
    total_not_created_items: int
    not_created_items: List[NotCreated]


class _StoredAddress(TypedDict):
    zipcode: str
    street: str
    number: str
    neighborhood: str
    city: str
    state: Literal[
        "AC", "AL", "AP", "AM", "BA", "CE", "DF", "ES", "GO", "MA", "MT", "MS", "MG", "PA", "PB", "PR", "PE", "PI",
        "RJ", "RN", "RS", "RO", "RR", "SC", "SP", "SE", "TO",
    ]


class StoredAddress(_StoredAddress, total=False):
    """The address as stored; no other member."""

    complement: str


class _ListedSubscriptionBeneficiary(TypedDict):
    #: Full name.
    name: str
    cpf: str
    email: str


class ListedSubscriptionBeneficiary(_ListedSubscriptionBeneficiary, total=False):
    """At least name, CPF and e-mail; other beneficiary data may be included."""

    #: Primary card number.
    primary_card: str
    #: User card number.
    user_card: str
    #: ISO 8601 date, not in the future.
    birth_date: str
    gender: Literal["M", "F"]
    #: With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with
    #: its area code are taken as Brazilian.
    phone_number: str
    #: The address as stored; no other member.
    address: StoredAddress


class ListedSubscription(TypedDict):
    #: Partner id.
    partner_id: str
    #: ISO 8601, UTC, with milliseconds.
    start_date: str
    #: A date-time, or the empty string where there is no end.
    expiry_date: str
    plan_id: str
    #: At least name, CPF and e-mail; other beneficiary data may be included.
    beneficiary: ListedSubscriptionBeneficiary


class Pagination(TypedDict):
    page: int
    page_size: int
    total_items: int
    total_pages: int
    has_next: bool
    has_previous: bool


class SubscriptionPage(TypedDict):
    data: List[ListedSubscription]
    pagination: Pagination


class SubscriptionBeneficiary(TypedDict):
    #: Primary card number.
    primary_card: str
    #: User card number.
    user_card: str
    #: Full name.
    name: str
    cpf: str
    #: ISO 8601 date, not in the future.
    birth_date: str
    gender: Literal["M", "F"]
    email: str
    #: With country code; the plus sign is optional. Without it, ten or eleven digits that are a Brazilian number with
    #: its area code are taken as Brazilian.
    phone_number: str
    #: The address as stored; no other member.
    address: StoredAddress


class Subscription(TypedDict):
    #: ISO 8601, UTC, with milliseconds.
    start_date: str
    #: A date-time, or the empty string where there is no end.
    expiry_date: str
    plan_id: str
    beneficiary: SubscriptionBeneficiary


class BeneficiaryEditAddress(TypedDict, total=False):
    zipcode: Optional[str]
    street: Optional[str]
    number: Optional[str]
    #: Empty takes it away.
    complement: Optional[str]
    neighborhood: Optional[str]
    city: Optional[str]
    state: Optional[str]


class BeneficiaryEdit(TypedDict, total=False):
    """The members to change, by the rules of an enrolment; what is missing or null stays."""

    #: Primary card number.
    primary_card: Optional[str]
    #: User card number.
    user_card: Optional[str]
    #: Full name.
    name: Optional[str]
    #: Cannot be changed; the one of the subscription may be sent along.
    cpf: Optional[str]
    #: ISO 8601 date, not in the future.
    birth_date: Optional[str]
    #: `M` or `F`.
    gender: Optional[str]
    email: Optional[str]
    #: With country code; the plus sign is optional.
    phone_number: Optional[str]
    address: Optional[BeneficiaryEditAddress]


class SubscriptionChange(TypedDict, total=False):
    move: Optional[Literal["end", "suspend", "resume"]]
    #: A date as `YYYY-MM-DD` that is not over, or empty for no end.
    expiry_date: Optional[str]
    #: Your own reference; empty takes it away.
    partner_internal_id: Optional[str]
    #: A text of JSON; empty takes it away.
    partner_metadata: Optional[str]
    beneficiary: Optional[BeneficiaryEdit]


class SubscriptionState(TypedDict):
    subscription_id: str
    plan_id: str
    state: Literal["active", "suspended", "ended"]
    #: ISO 8601, UTC, with milliseconds.
    start_date: str
    #: A date-time, or the empty string where there is no end.
    expiry_date: str
    partner_internal_id: str
    partner_metadata: str


class SubscriptionMoves(TypedDict):
    plan_id: str
    move: Literal["end", "suspend", "resume"]
    cpfs: List[Optional[str]]


class NotChanged(TypedDict):
    #: Its place in the request, from 0.
    item: int
    cpf: str
    errors: List[str]


class SubscriptionsMoved(TypedDict):
    result: Literal["success", "partial_success", "failure"]
    #: Those that are where the move leads, also if they were before.
    total_changed_items: int
    total_not_changed_items: int
    not_changed_items: List[NotChanged]


class SubscriptionEditsItems(TypedDict, total=False):
    #: Whose subscription it is.
    cpf: Optional[str]
    #: A date as `YYYY-MM-DD` that is not over, or empty for no end.
    expiry_date: Optional[str]
    #: Your own reference; empty takes it away.
    partner_internal_id: Optional[str]
    #: A text of JSON; empty takes it away.
    partner_metadata: Optional[str]
    beneficiary: Optional[BeneficiaryEdit]


class SubscriptionEdits(TypedDict):
    plan_id: str
    items: List[SubscriptionEditsItems]


class SubscriptionsEditedNotChangedItems(TypedDict):
    #: Its place in the request, from 0.
    item: int
    errors: List[str]


class SubscriptionsEdited(TypedDict):
    result: Literal["success", "partial_success", "failure"]
    total_changed_items: int
    total_not_changed_items: int
    not_changed_items: List[SubscriptionsEditedNotChangedItems]


class FindingBreach(TypedDict):
    name: str
    title: str
    #: Day of the breach, `YYYY-MM-DD`.
    date: str
    kind: Literal["breach", "combolist", "stealer", "paste", "phish"]


class _Finding(TypedDict):
    id: str
    assetId: str
    assetType: WatchedType
    breach: FindingBreach
    #: What was exposed of this person, such as `email`, `password`, `cpf`, `phone`, `card`, `address`. With basis
    #: `breach`, what the breach exposed of its people.
    exposed: List[str]
    basis: Basis
    severity: Severity
    state: Literal["open", "resolved"]
    #: ISO 8601, UTC, with milliseconds.
    foundAt: str


class Finding(_Finding, total=False):
    #: Hosts for which malware took credentials from the person's device.
    sites: List[str]
    #: Last day on which it took one, `YYYY-MM-DD`.
    takenOn: str
    #: True when one of the credentials is for a site of yours. Such a finding is critical.
    ownSite: bool
    #: True when one of the credentials is for a site that the operator watches for you. Critical, too.
    watchedSite: bool
    leakedAs: List[str]
    #: ISO 8601, UTC, with milliseconds.
    resolvedAt: str
    #: Why it does not count any more. `retracted` is the service's own, the breach was withdrawn.
    reason: Literal["password_changed", "account_closed", "card_replaced", "not_me", "other", "retracted"]


class NewExtraAsset(TypedDict):
    #: The value to monitor.
    value: str
    type: ExtraType
    userHash: str


class ExtraAsset(TypedDict):
    id: str
    type: ExtraType
    #: The monitored value, as it was sent.
    value: str
    status: AssetStatus


class SubLimit(TypedDict):
    nome: str
    limite: float


class _Cover(TypedDict):
    #: The person's subscription, the partner's default plan, or the sandbox's demo cover.
    origem: Literal["assinatura", "plano_padrao", "demonstracao"]
    detalhesCobertura: CoverageDetails
    #: Parts of the limit that one kind of loss may use, in reais.
    sublimites: List[SubLimit]
    #: Days after the start of the subscription that are not covered.
    carenciaDias: int


class Cover(_Cover, total=False):
    #: The plan; absent for the demo cover of a sandbox partner.
    planoId: str
    #: The first day that is covered, after the waiting period; absent where there is no subscription.
    vigenteDesde: str
    #: First day of the subscription; absent where there is none.
    inicio: str
    #: Last day of the subscription; absent where it has no end.
    fim: str


class CoverList(TypedDict):
    coberturas: List[Cover]


class ScorePoint(TypedDict):
    date: str
    breachScore: float
    assessmentScore: float


class _PortalRequest(TypedDict):
    userHash: str


class PortalRequest(_PortalRequest, total=False):
    #: The language that the page begins in; Portuguese unless it is given. The person can change it there.
    lang: Literal["", "pt-BR", "es", "en"]
    #: Where the page leads back to: an https address, at one of your own sites (or under one) where the operator has
    #: noted them.
    returnUrl: str


class PortalLink(TypedDict):
    #: A secret until it expires: whoever has it sees the page.
    url: str
    #: ISO 8601, UTC, with milliseconds.
    expiresAt: str


class ProtectionKeyDetailInstallLinks(TypedDict, total=False):
    """The links of all systems that have one; `linux` among them, though keys are not issued for it."""

    android: str
    ios: str
    linux: str
    macos: str
    windows: str


class _ProtectionKeyDetail(TypedDict):
    keyId: str
    operatingSystem: OperatingSystem
    deviceName: str
    #: Activation key.
    eppKey: str
    state: Literal["issued", "active", "ended"]
    #: ISO 8601, UTC, with milliseconds.
    issuedAt: str
    #: ISO 8601, UTC, with milliseconds.
    validUntil: str
    #: The links of all systems that have one; `linux` among them, though keys are not issued for it.
    installLinks: ProtectionKeyDetailInstallLinks


class ProtectionKeyDetail(_ProtectionKeyDetail, total=False):
    #: ISO 8601, UTC, with milliseconds.
    activatedAt: str
    #: ISO 8601, UTC, with milliseconds.
    lastSeenAt: str
    #: ISO 8601, UTC, with milliseconds.
    endedAt: str
    endReason: KeyEndReason
    #: Where the program of this system is installed from.
    installLink: str


class ProtectionKeyReport(TypedDict, total=False):
    """An empty object will do from you; the vendor's signed report says both."""

    #: The activation key of the path.
    eppKey: Optional[str]
    #: `activated` or `running`, as in the path.
    report: Optional[str]


class ProtectionKeyRevocation(TypedDict):
    userHash: str


class ProtectionKeyMove(TypedDict):
    userHash: str
    operatingSystem: OperatingSystem
    #: Friendly name of the new device.
    deviceName: str


class MovedProtectionKey(TypedDict):
    keyId: str
    #: Activation key.
    eppKey: str
    #: ISO 8601, UTC, with milliseconds.
    validUntil: str


class Question(TypedDict):
    id: str
    question: str
    #: A case cannot be opened without an answer.
    required: bool
    #: The answers to choose from; empty for any.
    options: List[str]


class ServiceDetail(TypedDict):
    _id: str
    name: str
    description: str
    questions: List[Question]
    slots: List[str]


class _CaseItem(TypedDict):
    id: str
    status: CaseStatus
    #: ISO 8601, UTC, with milliseconds.
    creationDate: str
    serviceId: str
    #: ISO 8601, UTC, with milliseconds.
    changedAt: str


class CaseItem(_CaseItem, total=False):
    #: ISO 8601, UTC, with milliseconds.
    appointment: str
    rating: int


_CaseLine = TypedDict(
    "_CaseLine",
    {
        #: ISO 8601, UTC, with milliseconds.
        "at": "str",
        "type": 'Literal["status", "message", "attachment", "appointment", "rating"]',
        "from": 'Literal["person", "support"]',
    },
)


class CaseLine(_CaseLine, total=False):
    status: CaseStatus
    #: What was written: the message, the attachment, a comment, a reason.
    text: str
    #: Of an attachment.
    name: str


class _CaseDetail(TypedDict):
    id: str
    status: CaseStatus
    #: ISO 8601, UTC, with milliseconds.
    creationDate: str
    serviceId: str
    #: ISO 8601, UTC, with milliseconds.
    changedAt: str
    #: As they were sent.
    appointments: List[Appointment]
    #: As they were sent.
    questions: List[TriageAnswer]
    history: List[CaseLine]


class CaseDetail(_CaseDetail, total=False):
    #: ISO 8601, UTC, with milliseconds.
    appointment: str
    rating: int


class CaseMessageAttachment(TypedDict):
    name: str
    text: str


class _CaseMessage(TypedDict):
    userHash: str
    #: No control characters but line breaks.
    text: str


class CaseMessage(_CaseMessage, total=False):
    attachment: Optional[CaseMessageAttachment]


class _CaseCancellation(TypedDict):
    userHash: str


class CaseCancellation(_CaseCancellation, total=False):
    reason: str


class CaseRebooking(TypedDict):
    userHash: str
    #: Wished times, best first; at least one element has a time.
    appointments: List[Appointment]


class _CaseRating(TypedDict):
    userHash: str
    rating: int


class CaseRating(_CaseRating, total=False):
    comment: str


class _PlanStep(TypedDict):
    id: str
    what: str
    why: str
    #: How long it takes.
    minutes: int
    #: Whether it mends what leaked: without it the finding is not solved.
    essential: bool
    #: ISO 8601, UTC, with milliseconds.
    dueAt: str
    state: StepState


class PlanStep(_PlanStep, total=False):
    #: The official page where it is done.
    link: str
    #: ISO 8601, UTC, with milliseconds.
    markedAt: str


class FindingPlan(TypedDict):
    findingId: str
    state: Literal["open", "resolved"]
    language: Literal["pt-BR", "es", "en"]
    #: How many steps are left before a re-check resolves the finding.
    remaining: int
    steps: List[PlanStep]


class StepMark(TypedDict):
    userHash: str
    state: StepState


class Recheck(TypedDict):
    userHash: str


class _Rechecked(TypedDict):
    findingId: str
    state: Literal["open", "resolved"]
    status: AssetStatus
    #: Steps that are left.
    remaining: List[str]


class Rechecked(_Rechecked, total=False):
    #: Why a resolved one does not count any more.
    reason: Literal["password_changed", "account_closed", "card_replaced", "not_me", "other", "retracted"]


class Resolution(TypedDict):
    userHash: str
    reason: ResolutionReason


class Credential(TypedDict):
    userHash: str
    #: The first 10 characters of the SHA-1 hash of the password, in hex, any case.
    passwordHashPrefix: str


class Answer(TypedDict):
    catalogId: str
    #: One of the `value`s of `answerOptions`.
    value: str


class EventMessageTemplate(TypedDict):
    """What a WhatsApp message is sent by."""

    name: str
    language: Literal["pt_BR", "es", "en"]
    #: The text to register, with {{1}}, {{2}} and so on.
    body: str
    parameters: List[str]


class _EventMessage(TypedDict):
    #: Type of the event.
    type: str
    channel: Literal["email", "sms", "whatsapp", "push"]
    lang: Literal["pt-BR", "es", "en"]
    text: str


class EventMessage(_EventMessage, total=False):
    #: Subject of an e-mail, title of a push.
    subject: str
    #: The text of an e-mail once more, as a page that fetches nothing.
    html: str
    #: What a WhatsApp message is sent by.
    template: EventMessageTemplate


class _DetectedFinding(TypedDict):
    id: str
    assetId: str
    assetType: WatchedType
    status: AssetStatus
    #: Name of the breach.
    breach: str
    severity: Severity
    #: As in Finding.
    exposed: List[str]
    basis: Basis


class DetectedFinding(_DetectedFinding, total=False):
    #: As in Finding.
    ownSite: bool
    #: As in Finding.
    watchedSite: bool
    leakedAs: List[str]


class LeakDetectedData(TypedDict):
    userHash: str
    findings: List[DetectedFinding]


class LeakDetected(TypedDict):
    type: Literal["monitoring.leak_detected"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: LeakDetectedData


class MonitoringStatusChangedData(TypedDict):
    userHash: str
    assetId: str
    assetType: WatchedType
    previousStatus: AssetStatus
    status: AssetStatus


class MonitoringStatusChanged(TypedDict):
    type: Literal["monitoring.status_changed"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: MonitoringStatusChangedData


class FirstLooksChangedData(TypedDict):
    state: Literal["running", "waiting", "stopped"]
    #: `operator` stopped them or lets them go on; `tokens`, more values were added than first looks allow; `caught_up`,
    #: no value has waited for long any more.
    reason: Literal["operator", "tokens", "caught_up"]
    #: Values without a first look.
    waiting: int
    #: How many first looks return in an hour.
    perHour: int


class FirstLooksChanged(TypedDict):
    type: Literal["monitoring.first_looks_changed"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: FirstLooksChangedData


class DueStep(TypedDict):
    findingId: str
    #: Name of the breach.
    breach: str
    step: str
    #: As in PlanStep.
    essential: bool
    #: ISO 8601, UTC, with milliseconds.
    dueAt: str


class FindingStepDueData(TypedDict):
    userHash: str
    steps: List[DueStep]


class FindingStepDue(TypedDict):
    type: Literal["finding.step_due"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: FindingStepDueData


class CaseStatusChangedData(TypedDict):
    userHash: str
    caseId: str
    serviceId: str
    previousStatus: CaseStatus
    status: CaseStatus


class CaseStatusChanged(TypedDict):
    type: Literal["case.status_changed"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: CaseStatusChangedData


CaseMessageAddedData = TypedDict(
    "CaseMessageAddedData",
    {
        "userHash": "str",
        "caseId": "str",
        "serviceId": "str",
        "from": 'Literal["support", "person"]',
    },
)


class CaseMessageAdded(TypedDict):
    type: Literal["case.message_added"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: CaseMessageAddedData


class CaseAppointmentChangedData(TypedDict):
    userHash: str
    caseId: str
    serviceId: str
    #: ISO 8601, UTC, with milliseconds.
    appointment: str


class CaseAppointmentChanged(TypedDict):
    type: Literal["case.appointment_changed"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: CaseAppointmentChangedData


class CaseRatedData(TypedDict):
    userHash: str
    caseId: str
    serviceId: str
    rating: int


class CaseRated(TypedDict):
    type: Literal["case.rated"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: CaseRatedData


class KeyExpiringData(TypedDict):
    userHash: str
    keyId: str
    operatingSystem: OperatingSystem
    #: ISO 8601, UTC, with milliseconds.
    validUntil: str


class KeyExpiring(TypedDict):
    type: Literal["epp.key_expiring"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: KeyExpiringData


class KeyActivatedData(TypedDict):
    userHash: str
    keyId: str
    operatingSystem: OperatingSystem
    #: ISO 8601, UTC, with milliseconds.
    activatedAt: str


class KeyActivated(TypedDict):
    type: Literal["epp.key_activated"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: KeyActivatedData


class _KeyEndedData(TypedDict):
    keyId: str
    operatingSystem: OperatingSystem
    reason: KeyEndReason
    #: ISO 8601, UTC, with milliseconds.
    endedAt: str


class KeyEndedData(_KeyEndedData, total=False):
    userHash: str
    movedTo: str


class KeyEnded(TypedDict):
    type: Literal["epp.key_ended"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: KeyEndedData


class _SubscriptionChangedData(TypedDict):
    userHash: str
    #: The same in every event of one subscription; a later one to the same plan has another.
    subscriptionId: str
    planId: str


class SubscriptionChangedData(_SubscriptionChangedData, total=False):
    #: The `partner_internal_id` of the enrolment, where one was given.
    partnerInternalId: str


class SubscriptionChanged(TypedDict):
    type: Literal["subscription.ended", "subscription.suspended", "subscription.resumed"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: SubscriptionChangedData


class ErasureRequestedData(TypedDict):
    userHash: str
    erasureId: str
    #: ISO 8601, UTC, with milliseconds.
    dueAt: str


class ErasureRequested(TypedDict):
    type: Literal["erasure.requested"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: ErasureRequestedData


class ErasureCancelledData(TypedDict):
    userHash: str
    erasureId: str


class ErasureCancelled(TypedDict):
    type: Literal["erasure.cancelled"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: ErasureCancelledData


class ErasureCompletedData(TypedDict):
    erasureId: str
    #: How many records were erased.
    removed: int


class ErasureCompleted(TypedDict):
    type: Literal["erasure.completed"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: ErasureCompletedData


class WebhookTestData(TypedDict, total=False):
    #: Only in `GET /events`: the type of the made-up event that was pushed in place of this one, which has its id.
    sampleOf: str


class WebhookTest(TypedDict):
    type: Literal["webhook.test"]
    #: ISO 8601, UTC, with milliseconds.
    timestamp: str
    data: WebhookTestData


class Event(TypedDict):
    #: The `webhook-id` of the event.
    id: str
    #: The body that is pushed.
    body: EventBody


class EventPage(TypedDict):
    events: List[Event]
    #: Cursor to pass as `after`; empty while the partner has no event at all.
    next: str
    #: Whether more events are waiting after these.
    hasMore: bool


class BreachFacts(TypedDict):
    name: str
    title: str
    #: Day of the breach, `YYYY-MM-DD`.
    date: str
    kind: Literal["breach", "combolist", "stealer", "paste", "phish"]
    description: str
    #: What it exposed of its people.
    exposes: List[str]
    #: Somebody made sure that it is genuine.
    verified: bool
    #: Known to be made up.
    fabricated: bool
    #: Gathered for spam; it says little about any account.
    spamList: bool
    #: ISO 8601, UTC, with milliseconds.
    addedAt: str


class BreachPage(TypedDict):
    breaches: List[BreachFacts]
    page: int
    pageSize: int
    totalItems: int
    hasNext: bool


class _Webhook(TypedDict):
    id: str
    #: Without its query.
    url: str
    #: What it wants; empty for all.
    types: List[EventType]
    state: Literal["enabled", "paused"]
    #: ISO 8601, UTC, with milliseconds.
    createdAt: str


class Webhook(_Webhook, total=False):
    reason: PauseReason
    #: ISO 8601, UTC, with milliseconds.
    failingSince: str


class _NewWebhook(TypedDict):
    #: An `https` address; printable ASCII.
    url: str


class NewWebhook(_NewWebhook, total=False):
    types: Optional[List[EventType]]


class _WebhookSecret(TypedDict):
    id: str
    #: Without its query.
    url: str
    #: What it wants; empty for all.
    types: List[EventType]
    state: Literal["enabled", "paused"]
    #: ISO 8601, UTC, with milliseconds.
    createdAt: str
    #: Verifies `v1` signatures. Shown once.
    secret: str
    #: Verify `v1a` signatures, newest first.
    publicKeys: List[str]


class WebhookSecret(_WebhookSecret, total=False):
    reason: PauseReason
    #: ISO 8601, UTC, with milliseconds.
    failingSince: str


class _WebhookTry(TypedDict):
    delivered: bool
    #: The receiver's HTTP status; 0 without an answer.
    status: int
    tookMs: int


class WebhookTry(_WebhookTry, total=False):
    #: Why there was no answer: `dns`, `connect`, `tls`, `timeout`, `address` and the like.
    failure: str
    #: ISO 8601, UTC, with milliseconds.
    at: str
    eventId: str


class _WebhookDetailHealth(TypedDict):
    delivered: int
    failed: int
    #: From the event to its arrival, on average; 0 before the first.
    meanMs: int
    #: What waits to be sent, also while the webhook is paused; up to 100,000.
    backlog: int


class WebhookDetailHealth(_WebhookDetailHealth, total=False):
    #: In percent.
    successRate: int
    lastTry: WebhookTry


class _WebhookDetail(TypedDict):
    id: str
    #: Without its query.
    url: str
    #: What it wants; empty for all.
    types: List[EventType]
    state: Literal["enabled", "paused"]
    #: ISO 8601, UTC, with milliseconds.
    createdAt: str
    #: Verify `v1a` signatures, newest first.
    publicKeys: List[str]
    health: WebhookDetailHealth


class WebhookDetail(_WebhookDetail, total=False):
    reason: PauseReason
    #: ISO 8601, UTC, with milliseconds.
    failingSince: str


class WebhookStateChange(TypedDict):
    state: Literal["enabled", "paused"]


class WebhookRotation(TypedDict):
    overlapHours: int


class WebhookTestRequest(TypedDict):
    type: EventType


class SandboxClock(TypedDict):
    #: How many days pass.
    days: int


WebhookReplay = TypedDict(
    "WebhookReplay",
    {
        #: Id of one event.
        "event": "Optional[str]",
        #: Events from this date-time on, such as `2026-01-31T03:00:00Z`.
        "from": "Optional[str]",
        #: And before this one.
        "to": "Optional[str]",
        #: All deliveries whose tries are used up.
        "failed": "Optional[bool]",
    },
    total=False,
)


class WebhookReplayed(TypedDict):
    deliveries: int


class _Key(TypedDict):
    id: str
    label: str
    #: How the key begins.
    starts: str
    scopes: List[Scope]
    state: Literal["live", "expired", "revoked"]
    #: ISO 8601, UTC, with milliseconds.
    createdAt: str
    #: The key of this request.
    calling: bool


class Key(_Key, total=False):
    #: ISO 8601, UTC, with milliseconds.
    expiresAt: str
    #: ISO 8601, UTC, with milliseconds.
    revokedAt: str
    #: The key that made it; absent where a person did.
    madeBy: str


class _NewKey(TypedDict):
    #: Names of scopes, each covered by the calling key.
    scopes: List[str]


class NewKey(_NewKey, total=False):
    #: What the key is for.
    label: Optional[str]
    #: A date-time in the future, such as `2027-01-31T03:00:00Z`; without it the key lives as long as the calling one.
    expiresAt: Optional[str]


class _MadeKey(TypedDict):
    id: str
    label: str
    #: How the key begins.
    starts: str
    scopes: List[Scope]
    state: Literal["live", "expired", "revoked"]
    #: ISO 8601, UTC, with milliseconds.
    createdAt: str
    #: The key of this request.
    calling: bool
    #: What to send as `x-api-key`. Shown once.
    apiKey: str


class MadeKey(_MadeKey, total=False):
    #: ISO 8601, UTC, with milliseconds.
    expiresAt: str
    #: ISO 8601, UTC, with milliseconds.
    revokedAt: str
    #: The key that made it; absent where a person did.
    madeBy: str


class KeyRolling(TypedDict):
    graceHours: int


class _Erasure(TypedDict):
    id: str
    state: ErasureState
    #: ISO 8601, UTC, with milliseconds.
    requestedAt: str
    #: ISO 8601, UTC, with milliseconds.
    dueAt: str


class Erasure(_Erasure, total=False):
    userHash: str
    #: ISO 8601, UTC, with milliseconds.
    endedAt: str
    #: How many subscriptions, values, findings, cases, devices and events were found and erased. 0 when you held
    #: nothing about the person.
    removed: int


class ErasurePage(TypedDict):
    erasures: List[Erasure]
    page: int
    pageSize: int
    totalItems: int
    hasNext: bool


class ErasureRequest(TypedDict):
    userHash: str
    #: Why the person is erased; kept in the audit trail and the log of erasures.
    reason: str


class UsageRate(TypedDict):
    perSecond: int
    burst: int
    bulkItemsPerSecond: int


class Budget(TypedDict):
    name: Literal["webhooks", "keys"]
    limit: int
    used: int
    left: int


class UsageFirstLooks(TypedDict):
    """First looks of new values into breaches already known. Absent at sandbox partners."""

    #: How many first looks return in an hour.
    perHour: int
    #: One for each subscription in force for 30 days or more, at most as many as return in a day anyway.
    perDayBySubscriptions: int
    burst: int
    #: How many can be made now.
    left: int
    #: Values without a first look.
    waiting: int
    #: When the last of them will have had it, as things stand. Empty when none waits. While first looks are stopped,
    #: when that would be if they went on now.
    until: str
    #: Values that have waited for more than 24 hours and are not protected yet.
    overdue: int
    #: The operator has stopped them.
    stopped: bool


class RequestCount(TypedDict):
    day: str
    operation: str
    requests: int
    #: Those answered with 400 and above.
    refused: int


class _Usage(TypedDict):
    rate: UsageRate
    budgets: List[Budget]
    activeSubscriptions: int
    requests: List[RequestCount]


class Usage(_Usage, total=False):
    #: First looks of new values into breaches already known. Absent at sandbox partners.
    firstLooks: UsageFirstLooks


class NewAssets(TypedDict):
    #: Each as the body of `POST /cyber/monitoring`. What is wrong with one is told of that one.
    items: List[NewMonitoredAsset]


class NotAdded(TypedDict):
    #: Its place in the request, from 0.
    item: int
    error: str
    #: The field and the rule, in English.
    detail: str


class AssetsAdded(TypedDict):
    result: Literal["success", "partial_success", "failure"]
    #: Values that are watched now, those that were before included.
    totalAdded: int
    totalNotAdded: int
    notAdded: List[NotAdded]


class UserHashes(TypedDict):
    userHashes: List[Optional[str]]


class _PersonScore(TypedDict):
    #: As it was sent.
    userHash: str


class PersonScore(_PersonScore, total=False):
    breachScore: float
    assessmentScore: float
    #: The field and the rule, in English.
    detail: str


class RiskScores(TypedDict):
    scores: List[PersonScore]


class StatisticsDay(TypedDict):
    day: str
    findings: int
    alerts: int
    enrolments: int
    cases: int


class Statistics(TypedDict):
    days: List[StatisticsDay]


EventBody = Union[
    CaseAppointmentChanged, CaseMessageAdded, CaseRated, CaseStatusChanged, ErasureCancelled, ErasureCompleted,
    ErasureRequested, FindingStepDue, FirstLooksChanged, KeyActivated, KeyEnded, KeyExpiring, LeakDetected,
    MonitoringStatusChanged, SubscriptionChanged, WebhookTest,
]
