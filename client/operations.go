// Code generated from internal/web/api/openapi.yaml by go generate ./clients/generate. DO NOT EDIT.

package client

import (
	"context"
	"strconv"
)

// AddMonitoredAsset: Add data for monitoring. Watches one value of a person for leaks, from now on and in every breach
// already known. Adding what is already there answers 200 and adds nothing. Adding is free. At a live partner the first
// look into breaches takes a token (1,000 at once and 200 an hour; the size that the operator set for you gives more).
// Without one the value waits, oldest first, and the answer has `x-first-looks-waiting: 1`. Until its first look no
// breach is compared with it: `monitorado` then means "not looked up yet". For `type: cpf` the user hash has to be a
// digest of that very CPF. Rules of `value` by `type`: **email** one address, at most 254 characters, compared without
// case. **cpf** 11 digits, dots and dash allowed, check digits right, not eleven equal digits. **phone** Brazilian
// numbers with or without `+55`, with a known area code and nine digits for a mobile; other countries with `+`.
// **credit_card** 12 to 19 digits, spaces and hyphens allowed, Luhn digit right. Sandbox partners need no right check
// digits.
func (c *Client) AddMonitoredAsset(ctx context.Context, body NewMonitoredAsset, opts ...Option) error {
	k := newAPICall("POST", "/cyber/monitoring", []string{}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// ListMonitoredAssets: List the monitored assets of a user. All assets of the person, in the order they were added,
// with `value` as it was sent. An unknown person has an empty list. `status` is `monitorado` with no open finding,
// `alerta` with at least one, `comprometido` when an open finding exposed something usable against the person
// (password, card data, government id with identity data, stealer log). Where values wait for their first look,
// `x-first-looks-waiting` says how many and `x-first-looks-until` until when; `monitorado` means "not looked up yet"
// for these.
func (c *Client) ListMonitoredAssets(ctx context.Context, userHash string, opts ...Option) ([]MonitoredAsset, error) {
	k := newAPICall("GET", "/cyber/monitoring/{userhash}", []string{userHash}, opts)
	var answer []MonitoredAsset
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// RemoveMonitoredAsset: Remove a monitored asset. Ends the monitoring and erases the value. Repeating it answers 404,
// as does an asset of another person or of another partner.
func (c *Client) RemoveMonitoredAsset(ctx context.Context, id string, userHash string, opts ...Option) error {
	k := newAPICall("DELETE", "/cyber/monitoring/{id}/{userhash}", []string{id, userHash}, opts)
	return c.do(ctx, k, nil, nil)
}

// OpenSupportCase: Open a support case. Opens a case for a service of `GET /cyber/services`. A new case is `Aberto`;
// the operator moves it on through `Em andamento`, `Aguardando cliente`, `Resolvido` and `Fechado`, or to `Cancelado`.
// Elements of `appointments` and `questions` are objects of the partner's own making; `appointments[].appointment`,
// where present, is an ISO 8601 date-time. Answers to triage questions are required only where the operator marked the
// question so.
func (c *Client) OpenSupportCase(ctx context.Context, body NewCase, opts ...Option) (OpenedCase, error) {
	k := newAPICall("POST", "/cyber/case", []string{}, opts)
	k.keyed = true
	var answer OpenedCase
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// ListSupportServices: List the support services. The services for which a case can be opened.
func (c *Client) ListSupportServices(ctx context.Context, opts ...Option) (ServiceList, error) {
	k := newAPICall("GET", "/cyber/services", []string{}, opts)
	var answer ServiceList
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// IssueProtectionKey: Create an endpoint-protection key. Issues an antivirus activation key for a device. The same
// person, system and device name with a live key gets that key again. 409 when the plan's device limit is reached, 503
// when the pool of vendor keys is empty.
func (c *Client) IssueProtectionKey(ctx context.Context, body NewProtectionKey, opts ...Option) (ProtectionKey, error) {
	k := newAPICall("POST", "/cyber/epp", []string{}, opts)
	k.keyed = true
	var answer ProtectionKey
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// ListProtectedDevices: List protected devices. Devices with a live key, activated or not, newest first. The person
// comes from the header `x-user-hash` or the query `userHash`. Without either, all live devices of the calling partner,
// at most 1,000; `x-truncated: true` when there are more.
func (c *Client) ListProtectedDevices(ctx context.Context, opts ...Option) (ProtectedDeviceList, error) {
	k := newAPICall("GET", "/cyber/epp", []string{}, opts)
	var answer ProtectedDeviceList
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// WithUserHash sets the parameter x-user-hash.
func WithUserHash(value string) Option {
	return func(k *call) { k.header.Set("x-user-hash", value) }
}

// CheckPasswordPrefix: Check password exposure. Tells whether a password is in known breaches, by the first 10 hex
// characters (any case) of its SHA-1 or NTLM hash; both algorithms are looked up. The prefix is treated as a password:
// never logged, never cached. Without a corpus the answer is 503, never a false "not exposed". The built-in sample of a
// few thousand common passwords counts as a corpus for sandbox partners only. `x-corpus` names what was looked in: a
// hash of an algorithm that it does not list was not looked up.
func (c *Client) CheckPasswordPrefix(ctx context.Context, body PasswordPrefix, opts ...Option) (PasswordExposure, error) {
	k := newAPICall("POST", "/cyber/password-check", []string{}, opts)
	var answer PasswordExposure
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// ListAdvice: Educational content for a user. What applies to this person, most urgent first. `userId` is the user hash
// as it was sent. An item with `validationQuestion` can be answered with the extension `POST
// /cyber/advise/{userhash}/answers`.
func (c *Client) ListAdvice(ctx context.Context, userHash string, opts ...Option) ([]Advice, error) {
	k := newAPICall("GET", "/cyber/advise/{userhash}", []string{userHash}, opts)
	var answer []Advice
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// RiskScore: Risk score of a user. Two figures from 0 (best) to 100. An unknown person has `breachScore` 0. The
// recommendations say what would lower them, most urgent first.
func (c *Client) RiskScore(ctx context.Context, userHash string, opts ...Option) (RiskScore, error) {
	k := newAPICall("GET", "/cyber/score/{userhash}", []string{userHash}, opts)
	var answer RiskScore
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// InsuranceCoverage: Insurance coverage of a user. Cover of the plan of the person's subscription in force (the highest
// limit if there are several), else of the partner's default plan, else 404.
func (c *Client) InsuranceCoverage(ctx context.Context, userHash string, opts ...Option) (Coverage, error) {
	k := newAPICall("GET", "/cyber/insurance/{userhash}", []string{userHash}, opts)
	var answer Coverage
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// CreateSubscriptions: Create subscriptions in bulk. Each item stands alone: a bad one is reported in
// `not_created_items`, in the order of the request, with all of its errors as `campo: regra`; the others are created
// and are on disk when the answer arrives. The header `x-not-created-index` gives the places of the failed ones in the
// request. A body that is not JSON or not an array is a 400 and creates nothing, as does any 5xx; a member name twice,
// text that is not UTF-8 or half of a surrogate pair in any item is not JSON. At most 10,000 items and 32 MiB; an item
// above 1 MiB makes the whole body too large (413), and nothing is created. A subscription of the same partner, plan
// and CPF that has not ended makes an item fail (`assinatura já existe`, listed beside other errors of the item), as
// does an earlier one of the same request that was created. `plan_id` must be registered for the partner (sandbox:
// registered on first use). A plan may watch the e-mail address, the CPF and the phone number of its subscriptions; the
// header `x-watched-values` counts what is watched from now on.
func (c *Client) CreateSubscriptions(ctx context.Context, body []NewSubscription, opts ...Option) (BulkOutcome, error) {
	k := newAPICall("POST", "/subscriptions", []string{}, opts)
	k.keyed = true
	var answer BulkOutcome
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// WithDryRun sets the parameter dry_run.
func WithDryRun(value bool) Option {
	return func(k *call) { k.query.Set("dry_run", strconv.FormatBool(value)) }
}

// ListSubscriptions: List active subscriptions. Every subscription of the partner that has not ended, oldest first. One
// whose expiry date is over in America/Sao_Paulo has ended, from midnight on. Past the last page `data` is empty and
// the totals are true.
func (c *Client) ListSubscriptions(ctx context.Context, opts ...Option) (SubscriptionPage, error) {
	k := newAPICall("GET", "/subscriptions", []string{}, opts)
	var answer SubscriptionPage
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// WithPage sets the parameter page.
func WithPage(value int) Option {
	return func(k *call) { k.query.Set("page", strconv.Itoa(value)) }
}

// WithPageSize sets the parameter page_size.
func WithPageSize(value int) Option {
	return func(k *call) { k.query.Set("page_size", strconv.Itoa(value)) }
}

// SubscriptionByPlanAndCPF: Get one subscription. The subscription of this plan and CPF that has not ended, else the
// latest one that ended. If it was ended before its expiry date, `expiry_date` is the day of its end.
func (c *Client) SubscriptionByPlanAndCPF(ctx context.Context, planID string, beneficiaryCPF string, opts ...Option) (Subscription, error) {
	k := newAPICall("GET", "/subscriptions/{plan_id}/{beneficiary_cpf}", []string{planID, beneficiaryCPF}, opts)
	var answer Subscription
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// ChangeSubscription: End, suspend, resume or edit a subscription. **Extension, additive.** Changes the subscription in
// force: either a `move`, or new values for the members named. A suspended subscription keeps its place and pauses its
// cover; an ended one stays ended. A move to where it already is answers 200 and changes nothing. The events
// `subscription.ended`, `subscription.suspended` and `subscription.resumed` report moves. New values follow the rules
// of an enrolment, and when one is refused none is taken. Where the plan watches, a new e-mail address or phone number
// replaces the watched one. An edit is a line of the operator's audit trail, without the values.
func (c *Client) ChangeSubscription(ctx context.Context, planID string, beneficiaryCPF string, body SubscriptionChange, opts ...Option) (SubscriptionState, error) {
	k := newAPICall("POST", "/subscriptions/{plan_id}/{beneficiary_cpf}/changes", []string{planID, beneficiaryCPF}, opts)
	k.keyed = true
	var answer SubscriptionState
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// MoveSubscriptions: End, suspend or resume up to 1,000 subscriptions. **Extension, additive.** The same `move` for the
// subscriptions of many people to one plan. A subscription that is not in force does not stop the others; the answer
// names it by its place, from 0.
func (c *Client) MoveSubscriptions(ctx context.Context, body SubscriptionMoves, opts ...Option) (SubscriptionsMoved, error) {
	k := newAPICall("POST", "/subscription-moves", []string{}, opts)
	k.keyed = true
	var answer SubscriptionsMoved
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// EditSubscriptions: Edit up to 1,000 subscriptions. **Extension, additive.** New values for the subscriptions of many
// people to one plan, each with its own. The rules are those of `POST
// /subscriptions/{plan_id}/{beneficiary_cpf}/changes`. An item that is refused does not stop the others: its
// subscription stays as it was, and the answer names it by its place, from 0, with all its errors. At most 512 KiB.
func (c *Client) EditSubscriptions(ctx context.Context, body SubscriptionEdits, opts ...Option) (SubscriptionsEdited, error) {
	k := newAPICall("POST", "/subscription-changes", []string{}, opts)
	k.keyed = true
	var answer SubscriptionsEdited
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// ListFindings: List the findings behind the statuses. **Extension, additive.** Every finding of the person's monitored
// assets, newest first, open and resolved: where the value was found and what was exposed with it. Never the exposed
// data itself.
func (c *Client) ListFindings(ctx context.Context, userHash string, opts ...Option) ([]Finding, error) {
	k := newAPICall("GET", "/cyber/findings/{userhash}", []string{userHash}, opts)
	var answer []Finding
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// AddExtraAsset: Add a random Pix key or a CNPJ for monitoring. **Extension, additive.** Watches a value of a kind that
// the contract does not have. Such values are listed and removed by the operations beside this one; the contract's own
// neither show nor take them. What is found of them is told by `/cyber/findings/{userhash}` and by events, and counts
// in advice and score. They count towards the same limit of values for one person. Rules of `value` by `type`:
// **pix_key** a random key: a UUID of version 4 with hyphens, compared without case. Keys that are a CPF, a phone or an
// e-mail address are those types. **cnpj** 12 letters or digits and two check digits, with or without punctuation,
// compared without case. Sandbox partners need no right check digits.
func (c *Client) AddExtraAsset(ctx context.Context, body NewExtraAsset, opts ...Option) error {
	k := newAPICall("POST", "/cyber/monitoring/extra", []string{}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// ListExtraAssets: List the monitored Pix keys and CNPJs of a user. **Extension, additive.** The values that were added
// by `POST /cyber/monitoring/extra` or by the operator, in the order they were added. An unknown person has an empty
// list.
func (c *Client) ListExtraAssets(ctx context.Context, userHash string, opts ...Option) ([]ExtraAsset, error) {
	k := newAPICall("GET", "/cyber/monitoring/extra/{userhash}", []string{userHash}, opts)
	var answer []ExtraAsset
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// RemoveExtraAsset: Remove a monitored Pix key or CNPJ. **Extension, additive.** Ends the monitoring and erases the
// value. Repeating it answers 404, as does an asset of another person or of another partner.
func (c *Client) RemoveExtraAsset(ctx context.Context, id string, userHash string, opts ...Option) error {
	k := newAPICall("DELETE", "/cyber/monitoring/extra/{id}/{userhash}", []string{id, userHash}, opts)
	return c.do(ctx, k, nil, nil)
}

// ListCover: Every cover in force of a user, with sub-limits and waiting period. **Extension, additive.** Every plan
// that covers the person today (America/Sao_Paulo), the highest limit first: the first is what
// `/cyber/insurance/{userhash}` answers. With it come what that answer has no place for: sub-limits, the waiting period
// and the day from which the person is covered, and the dates of the subscription. Else the partner's default plan,
// else 404.
func (c *Client) ListCover(ctx context.Context, userHash string, opts ...Option) (CoverList, error) {
	k := newAPICall("GET", "/cyber/cover/{userhash}", []string{userHash}, opts)
	var answer CoverList
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// ScoreHistory: How the risk score of a user changed. **Extension, additive.** The days (of Brasília) on which the
// score was asked for and had changed, oldest first, with the last score of each: a day that is not listed has the
// score of the one before. Empty when the score was never asked for. Days are kept as long as the operator keeps them
// (`--keep-scores`).
func (c *Client) ScoreHistory(ctx context.Context, userHash string, opts ...Option) ([]ScorePoint, error) {
	k := newAPICall("GET", "/cyber/score/{userhash}/history", []string{userHash}, opts)
	var answer []ScorePoint
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// OpenPortalSession: Make a link to a person's own page. **Extension, additive.** A link to the pages on which a person
// sees what leaked, what to do, their risk, devices, cases and cover, in your colours. Give it only to the person who
// is logged in with you: whoever opens it within 15 minutes sees that person's page for up to an hour. It may be opened
// more than once. Suspending the partner or erasing the person closes it at once. A person about whom nothing is held
// answers 404. A key that may not read subscriptions gives a page without the copy of everything that is held.
func (c *Client) OpenPortalSession(ctx context.Context, body PortalRequest, opts ...Option) (PortalLink, error) {
	k := newAPICall("POST", "/cyber/portal-session", []string{}, opts)
	k.keyed = true
	var answer PortalLink
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// GetProtectionKey: Read one key. **Extension, additive.** The state of a key: `issued` until the device reports, then
// `active`, at last `ended`, with the reason. Only an active key protects, in score and advice too. `installLink` is
// where the person installs the program of their system, `installLinks` those of all systems that the operator set.
func (c *Client) GetProtectionKey(ctx context.Context, key string, opts ...Option) (ProtectionKeyDetail, error) {
	k := newAPICall("GET", "/cyber/epp/{key}", []string{key}, opts)
	var answer ProtectionKeyDetail
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// ActivateProtectionKey: Report that a key was activated. **Extension, additive.** Reports that the program on the
// device accepted the key: from now on the device is protected. The first time causes the event `epp.key_activated`.
// Sent by you, or by the vendor of the antivirus without `x-api-key` and signed in the form of our webhooks: then the
// body says `eppKey` and `report` as the path does. A key that ended answers 409.
func (c *Client) ActivateProtectionKey(ctx context.Context, key string, body ProtectionKeyReport, opts ...Option) error {
	k := newAPICall("POST", "/cyber/epp/{key}/activate", []string{key}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// HeartbeatProtectionKey: Report that a device is still protected. **Extension, additive.** Reports that the program on
// the device runs, and sets `lastSeenAt`, exact to ten minutes. A key that was not active becomes active, since the
// report of its activation may have been lost. Sent by you or, signed, by the vendor, as for `activate`.
func (c *Client) HeartbeatProtectionKey(ctx context.Context, key string, body ProtectionKeyReport, opts ...Option) error {
	k := newAPICall("POST", "/cyber/epp/{key}/heartbeat", []string{key}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// RevokeProtectionKey: Revoke a key. **Extension, additive.** Ends a key of this person before its time; revoking a
// revoked one answers 200 and changes nothing, one that ended otherwise 409. Causes the event `epp.key_ended`.
func (c *Client) RevokeProtectionKey(ctx context.Context, key string, body ProtectionKeyRevocation, opts ...Option) error {
	k := newAPICall("POST", "/cyber/epp/{key}/revoke", []string{key}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// MoveProtectionKey: Move the protection to another device. **Extension, additive.** Ends the key and issues one for
// another device of the same person, valid until the same time. The plan's limit of devices is not checked; from a
// pool, the new key counts against your share. 409 when that device has a live key already. Causes the event
// `epp.key_ended` with the reason `moved` and the new key's id.
func (c *Client) MoveProtectionKey(ctx context.Context, key string, body ProtectionKeyMove, opts ...Option) (MovedProtectionKey, error) {
	k := newAPICall("POST", "/cyber/epp/{key}/move", []string{key}, opts)
	k.keyed = true
	var answer MovedProtectionKey
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// GetService: Read what a service asks and when it is free. **Extension, additive.** The service with its triage
// questions and the coming times of its calendar that your people can still have, the soonest first, at most 200. A
// service without a calendar has no times and takes no appointments.
func (c *Client) GetService(ctx context.Context, id string, opts ...Option) (ServiceDetail, error) {
	k := newAPICall("GET", "/cyber/services/{id}", []string{id}, opts)
	var answer ServiceDetail
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// ListCases: List the cases of a person. **Extension, additive.** The newest 200, newest first, whatever their status.
func (c *Client) ListCases(ctx context.Context, userHash string, opts ...Option) ([]CaseItem, error) {
	k := newAPICall("GET", "/cyber/cases/{userhash}", []string{userHash}, opts)
	var answer []CaseItem
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// GetCase: Read a case. **Extension, additive.** A case of a person with what you sent and its history: moves, messages
// both ways, attachments, appointments, the rating. What the operator notes for themselves is not in it.
func (c *Client) GetCase(ctx context.Context, id string, userHash string, opts ...Option) (CaseDetail, error) {
	k := newAPICall("GET", "/cyber/case/{id}/history/{userhash}", []string{id, userHash}, opts)
	var answer CaseDetail
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// ReplyToCase: Write in a case. **Extension, additive.** Adds a message of the person, with a text as attachment if you
// like. A case that waited for them is `Em andamento` again, a resolved one `Aberto`; a closed or cancelled one answers
// 409. Causes the event `case.message_added`.
func (c *Client) ReplyToCase(ctx context.Context, id string, body CaseMessage, opts ...Option) error {
	k := newAPICall("POST", "/cyber/case/{id}/messages", []string{id}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// CancelCase: Cancel a case. **Extension, additive.** Ends a case that the person does not need any more and gives its
// appointment back. Cancelling a cancelled one answers 200 and changes nothing; a resolved or closed one answers 409.
// Causes the event `case.status_changed`.
func (c *Client) CancelCase(ctx context.Context, id string, body CaseCancellation, opts ...Option) error {
	k := newAPICall("POST", "/cyber/case/{id}/cancel", []string{id}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// RebookCase: Take another appointment. **Extension, additive.** Takes the first of the times that is free and gives
// back the one that the case holds; if none is free (409) it keeps it. Same rules as for opening a case. Causes the
// event `case.appointment_changed`.
func (c *Client) RebookCase(ctx context.Context, id string, body CaseRebooking, opts ...Option) (CaseItem, error) {
	k := newAPICall("POST", "/cyber/case/{id}/rebook", []string{id}, opts)
	k.keyed = true
	var answer CaseItem
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// RateCase: Rate a case. **Extension, additive.** What the person thought of a resolved or closed case; a later rating
// replaces an earlier one. Any other status answers 409. Causes the event `case.rated`.
func (c *Client) RateCase(ctx context.Context, id string, body CaseRating, opts ...Option) error {
	k := newAPICall("POST", "/cyber/case/{id}/rate", []string{id}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// GetPlan: Read what to do about a finding. **Extension, additive.** The steps by which the person deals with a
// finding, in the order in which they are best done: what, why, where, how long it takes and until when. They follow
// from what stood in the person's own record; where only the breach as a whole is known (basis `breach`), only steps
// that make sense without certainty are listed, and they say so. The plan of a resolved finding is shown as it stands.
func (c *Client) GetPlan(ctx context.Context, id string, userHash string, opts ...Option) (FindingPlan, error) {
	k := newAPICall("GET", "/cyber/findings/{id}/plan/{userhash}", []string{id, userHash}, opts)
	var answer FindingPlan
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// WithLang sets the parameter lang.
func WithLang(value Language) Option {
	return func(k *call) { k.query.Set("lang", string(value)) }
}

// MarkStep: Say what became of a step. **Extension, additive.** Keeps that the person has done a step of the plan, does
// not want to do it, or still has to. Saying the same again answers 200 and changes nothing; a step that is not in the
// plan is a 404, and the plan of a resolved finding a 409. A step alone changes neither status nor score: ask for a
// re-check once they are done.
func (c *Client) MarkStep(ctx context.Context, id string, step string, body StepMark, opts ...Option) error {
	k := newAPICall("POST", "/cyber/findings/{id}/steps/{step}", []string{id, step}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// RecheckFinding: Look at a finding again after its steps. **Extension, additive.** With no step left the finding is
// resolved, for the reason that its steps give, and the status of the asset, the score and the advice are computed
// again. Otherwise the answer says what is left: steps that are to be done, and essential ones that were skipped. A
// resolved finding is answered as it stands.
func (c *Client) RecheckFinding(ctx context.Context, id string, body Recheck, opts ...Option) (Rechecked, error) {
	k := newAPICall("POST", "/cyber/findings/{id}/recheck", []string{id}, opts)
	k.keyed = true
	var answer Rechecked
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// ResolveFinding: Resolve a finding. **Extension, additive.** Tells that the person has dealt with a finding. The
// status of the asset, the score and the advice are computed again; with no finding open the asset is `monitorado`.
// Resolving a resolved one answers 200 and changes nothing.
func (c *Client) ResolveFinding(ctx context.Context, id string, body Resolution, opts ...Option) error {
	k := newAPICall("POST", "/cyber/findings/{id}/resolve", []string{id}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// CheckCredentialPrefix: Check a password of a person. **Extension, additive.** Tells whether a password is known
// *together with one of the values that are watched for this person*: the two stood in one record of a breach. The
// password is named by the first 10 hex characters (any case) of its SHA-1. Ten characters do not tell their algorithm,
// so an NTLM prefix is not refused; it is not known here. `exposed: false` means that no breach with pairs holds the
// two together. It is also the answer for a person with no watched value. When not every breach can be asked the answer
// is 503, never a false "not exposed". The prefix is treated as a password: never logged, never cached. The key needs
// the scope `credentials`, which no other scope includes. At a live partner a value is asked about 24 hours after it
// was added, at once if the enrolment names it, and after its first look; 409 when the person has values and none of
// them is so far. Each value can be asked about 20 times a day (of Brasília), by all partners and for all people
// together; beyond, 429. In the sandbox the password "password" is known together with the documented e-mail addresses.
func (c *Client) CheckCredentialPrefix(ctx context.Context, body Credential, opts ...Option) (PasswordExposure, error) {
	k := newAPICall("POST", "/cyber/credential-check", []string{}, opts)
	var answer PasswordExposure
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// AnswerValidationQuestion: Answer a validation question. **Extension, additive.** Stores the person's answer to the
// `validationQuestion` of an advice item; it feeds `assessmentScore`. A later answer replaces an earlier one. 404 when
// the item is unknown or asks nothing.
func (c *Client) AnswerValidationQuestion(ctx context.Context, userHash string, body Answer, opts ...Option) error {
	k := newAPICall("POST", "/cyber/advise/{userhash}/answers", []string{userHash}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// MessageOfEvent: A ready message about an event. **Extension, additive.** What to send to the person, by e-mail (with
// `html`), SMS (at most 160 characters of the GSM alphabet), WhatsApp (`template`: what to register at Meta and its
// parameters) or push. The operator can change texts for all partners or for you. Never holds a personal value in the
// clear. 404 for an event that people are not told of.
func (c *Client) MessageOfEvent(ctx context.Context, id string, channel string, opts ...Option) (EventMessage, error) {
	k := newAPICall("GET", "/events/{id}/message", []string{id}, opts)
	k.query.Set("channel", channel)
	var answer EventMessage
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// ListEvents: Read events by cursor. **Extension, additive.** Every event of the partner of the last 30 days that the
// key may read, in order: the same bodies that are pushed to webhooks. `subscription.*` events need a scope of
// subscriptions, `webhook.test` any scope, all others one of cyber. Start without `after`; then pass `next` of the last
// answer. `next` is there even when nothing new came, so that the same loop polls for ever. Coming back with a cursor
// counts as having received everything up to it in these areas. `x-truncated: true` says that events right behind the
// cursor are not kept any more. After the service went back to an older backup, a cursor that stands behind a lost
// event is a 400: start again without `after`, and skip the ids you have. An event spells `userHash` as your last
// request did that wrote something about the person (POST or DELETE under `/cyber`); 512 bits in hex where there was
// none.
func (c *Client) ListEvents(ctx context.Context, opts ...Option) (EventPage, error) {
	k := newAPICall("GET", "/events", []string{}, opts)
	var answer EventPage
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// WithAfter sets the parameter after.
func WithAfter(value string) Option {
	return func(k *call) { k.query.Set("after", value) }
}

// WithLimit sets the parameter limit.
func WithLimit(value int) Option {
	return func(k *call) { k.query.Set("limit", strconv.Itoa(value)) }
}

// WithNewest sets the parameter newest.
func WithNewest(value bool) Option {
	return func(k *call) { k.query.Set("newest", strconv.FormatBool(value)) }
}

// ListBreaches: List the published breaches. **Extension, additive.** The public description of every published breach,
// newest first, and nothing about the people in it. Breaches that are being imported or were withdrawn are not listed.
// Sandbox partners see the made-up breach too. More than 100 to a page count as 100.
func (c *Client) ListBreaches(ctx context.Context, opts ...Option) (BreachPage, error) {
	k := newAPICall("GET", "/cyber/breaches", []string{}, opts)
	var answer BreachPage
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// GetBreach: Read a published breach. **Extension, additive.** The facts of one breach, by the `name` that findings and
// events carry.
func (c *Client) GetBreach(ctx context.Context, name string, opts ...Option) (BreachFacts, error) {
	k := newAPICall("GET", "/cyber/breaches/{name}", []string{name}, opts)
	var answer BreachFacts
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// ListWebhooks: List your webhooks. **Extension, additive.** Scope `manage:read`. The endpoints that your events are
// pushed to, oldest first. Addresses are shown without their query, where receivers keep tokens.
func (c *Client) ListWebhooks(ctx context.Context, opts ...Option) ([]Webhook, error) {
	k := newAPICall("GET", "/webhooks", []string{}, opts)
	var answer []Webhook
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// CreateWebhook: Register a webhook. **Extension, additive.** Scope `manage`. From now on events of the named types are
// pushed to the address, signed; without types all of them. The types have to be ones whose events the calling key may
// read itself. The address needs `https` and a host that resolves to public addresses only. At most 50 for a partner.
// The secret is shown here and never again.
func (c *Client) CreateWebhook(ctx context.Context, body NewWebhook, opts ...Option) (WebhookSecret, error) {
	k := newAPICall("POST", "/webhooks", []string{}, opts)
	k.keyed = true
	var answer WebhookSecret
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// GetWebhook: Read a webhook and how it fares. **Extension, additive.** Scope `manage:read`. `health` counts the newest
// 1,000 deliveries: those that arrived, those given up, the share that arrived in percent (absent before the first is
// over), how long one is under way on average, what waits, and the last try.
func (c *Client) GetWebhook(ctx context.Context, id string, opts ...Option) (WebhookDetail, error) {
	k := newAPICall("GET", "/webhooks/{id}", []string{id}, opts)
	var answer WebhookDetail
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// RemoveWebhook: Remove a webhook. **Extension, additive.** Scope `manage`. Nothing is pushed there any more, and what
// waited is dropped. Events can still be read by cursor. Removing what is gone is a 404.
func (c *Client) RemoveWebhook(ctx context.Context, id string, opts ...Option) error {
	k := newAPICall("DELETE", "/webhooks/{id}", []string{id}, opts)
	return c.do(ctx, k, nil, nil)
}

// SetWebhookState: Pause or resume a webhook. **Extension, additive.** Scope `manage`. While it is `paused` events are
// held; `enabled` pushes them, the held ones first.
func (c *Client) SetWebhookState(ctx context.Context, id string, body WebhookStateChange, opts ...Option) (Webhook, error) {
	k := newAPICall("POST", "/webhooks/{id}/state", []string{id}, opts)
	k.keyed = true
	var answer Webhook
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// RotateWebhookSecret: Replace the secret of a webhook. **Extension, additive.** Scope `manage`. Makes a new secret and
// a new signing key. The old ones sign beside them for `overlapHours` more, 0 to 168, so that receivers can change
// over; 0 ends them at once. The secret is shown here and never again.
func (c *Client) RotateWebhookSecret(ctx context.Context, id string, body WebhookRotation, opts ...Option) (WebhookSecret, error) {
	k := newAPICall("POST", "/webhooks/{id}/rotate", []string{id}, opts)
	k.keyed = true
	var answer WebhookSecret
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// TestWebhook: Send a test to a webhook. **Extension, additive.** Scope `manage`. Sends one made-up event of a type
// now, whatever the filter and state of the webhook, and answers what came of it. It is signed and has the body of a
// real one; its `userHash` is always `e3d5a09299b744db42dc2031f023b71bc37742aa00b1a372b694262a92d43e37`, which names no
// person. `GET /events` shows it as a `webhook.test` of the same id. It is tried once. A repeat under the same
// idempotency key answers the same and may send another test.
func (c *Client) TestWebhook(ctx context.Context, id string, body WebhookTestRequest, opts ...Option) (WebhookTry, error) {
	k := newAPICall("POST", "/webhooks/{id}/test", []string{id}, opts)
	k.keyed = true
	var answer WebhookTry
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// AdvanceSandboxClock: Let days pass in the sandbox. **Extension, additive.** Scope `manage`, for sandbox partners; to
// a live one it is a 404. Everything that the partner has becomes `days` older: subscriptions, findings and their
// steps, antivirus keys, cases with their appointments, erasures that were asked for, and the ends of API keys. What
// becomes due by that happens before the answer comes, with its events. There is no way back; times in answers are
// earlier by as much, and events carry the real time.
func (c *Client) AdvanceSandboxClock(ctx context.Context, body SandboxClock, opts ...Option) error {
	k := newAPICall("POST", "/sandbox/clock", []string{}, opts)
	k.keyed = true
	return c.do(ctx, k, body, nil)
}

// ReplayWebhook: Push events again. **Extension, additive.** Scope `manage`. Pushes again what is selected, whether it
// arrived before or not: one `event`, the events `from` a time (and before `to`), or all deliveries that were given up
// (`failed`). Exactly one of the three. Receivers tell repeats by `webhook-id`.
func (c *Client) ReplayWebhook(ctx context.Context, id string, body WebhookReplay, opts ...Option) (WebhookReplayed, error) {
	k := newAPICall("POST", "/webhooks/{id}/replay", []string{id}, opts)
	k.keyed = true
	var answer WebhookReplayed
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// ListKeys: List your API keys. **Extension, additive.** Scope `manage:read`. Every key of the partner, oldest first,
// revoked and expired ones too. Only the beginning of each key is shown; `calling` marks the one that asks, and
// `madeBy` names the key that made it, with which it ends.
func (c *Client) ListKeys(ctx context.Context, opts ...Option) ([]Key, error) {
	k := newAPICall("GET", "/keys", []string{}, opts)
	var answer []Key
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// CreateKey: Make an API key. **Extension, additive.** Scope `manage`. A key with some of the scopes of the calling
// key, never more. It ends with the calling key at the latest, also when that is revoked. At most 100 keys in force.
// The key is shown here and never again.
func (c *Client) CreateKey(ctx context.Context, body NewKey, opts ...Option) (MadeKey, error) {
	k := newAPICall("POST", "/keys", []string{}, opts)
	k.keyed = true
	var answer MadeKey
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// RollKey: Replace an API key. **Extension, additive.** Scope `manage`. Makes a key with the same label and scopes; the
// old one stays valid for `graceHours` more, 0 to 168. A key replaces only keys that may do no more than itself. The
// new one ends when the old one would have, at the latest.
func (c *Client) RollKey(ctx context.Context, id string, body KeyRolling, opts ...Option) (MadeKey, error) {
	k := newAPICall("POST", "/keys/{id}/roll", []string{id}, opts)
	k.keyed = true
	var answer MadeKey
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// RevokeKey: Revoke an API key. **Extension, additive.** Scope `manage`. Ends the key, the keys it made and those that
// they made, everywhere within two seconds. A key revokes only keys that may do no more than itself. To revoke the
// calling key itself give `self=true`, otherwise it is a 400. When the calling key replaced the revoked one, it stays
// valid unless `self=true` is given.
func (c *Client) RevokeKey(ctx context.Context, id string, opts ...Option) error {
	k := newAPICall("DELETE", "/keys/{id}", []string{id}, opts)
	return c.do(ctx, k, nil, nil)
}

// WithSelf sets the parameter self.
func WithSelf(value bool) Option {
	return func(k *call) { k.query.Set("self", strconv.FormatBool(value)) }
}

// ListErasures: List the open erasures. **Extension, additive.** Scope `privacy`. The requests that are neither
// completed nor cancelled, newest first, whoever made them: a key, or an officer in the portal. More than 100 to a page
// count as 100.
func (c *Client) ListErasures(ctx context.Context, opts ...Option) (ErasurePage, error) {
	k := newAPICall("GET", "/erasures", []string{}, opts)
	var answer ErasurePage
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// RequestErasure: Ask for the erasure of a person. **Extension, additive.** Scope `privacy`, which no key has unless it
// was asked for. Everything that you hold about the person is erased when 24 hours have passed; until then it can be
// cancelled. The erasure takes what is held when it begins, enrolled before the request or after: to keep a person whom
// you enrol again, cancel it. A person has one open request; asking again answers with that one. Neither the answer nor
// the time that it takes shows whether the person is known. The events `erasure.requested`, `erasure.cancelled` and
// `erasure.completed` report it. In the sandbox, moving the clock makes the erasure due.
func (c *Client) RequestErasure(ctx context.Context, body ErasureRequest, opts ...Option) (Erasure, error) {
	k := newAPICall("POST", "/erasures", []string{}, opts)
	k.keyed = true
	var answer Erasure
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// GetErasure: Follow an erasure. **Extension, additive.** Scope `privacy`. Once the erasure is completed or cancelled
// the answer names no person any more.
func (c *Client) GetErasure(ctx context.Context, id string, opts ...Option) (Erasure, error) {
	k := newAPICall("GET", "/erasures/{id}", []string{id}, opts)
	var answer Erasure
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// CancelErasure: Cancel an erasure. **Extension, additive.** Scope `privacy`. Possible until the erasure begins; then
// it is a 409. One that is cancelled already answers 200 again.
func (c *Client) CancelErasure(ctx context.Context, id string, opts ...Option) error {
	k := newAPICall("DELETE", "/erasures/{id}", []string{id}, opts)
	return c.do(ctx, k, nil, nil)
}

// GetUsage: Read what you use and what is left. **Extension, additive.** For every key. The rate of requests, each
// budget with what is used and left of it, how many first looks of new values can be made and how many values wait (not
// at sandbox partners, which are not paced), and the requests of the last `days` by operation. Days are those of
// Brasília. The counts are up to a minute old and kept for 90 days.
func (c *Client) GetUsage(ctx context.Context, opts ...Option) (Usage, error) {
	k := newAPICall("GET", "/usage", []string{}, opts)
	var answer Usage
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}

// WithDays sets the parameter days.
func WithDays(value int) Option {
	return func(k *call) { k.query.Set("days", strconv.Itoa(value)) }
}

// AddAssets: Add up to 1,000 values for monitoring. **Extension, additive.** Each item is what `POST /cyber/monitoring`
// takes, and is held to the same rules. A refused item does not stop the others: the answer names it by its place, from
// 0, with the sentence and the detail that the single request would have had. First looks begin right after the answer,
// as far as there are tokens: `x-first-looks-waiting` says how many of the items still wait for theirs, and `GET
// /usage` until when. Items count against the same limit as those of a bulk enrolment. Items are kept in batches of
// 250. When the service fails on the way, `x-error-detail` of the 503 says how many items, from the first, were
// decided; send the list again, nothing is added twice. With an idempotency key the list is kept whole or not at all.
func (c *Client) AddAssets(ctx context.Context, body NewAssets, opts ...Option) (AssetsAdded, error) {
	k := newAPICall("POST", "/cyber/assets", []string{}, opts)
	k.keyed = true
	var answer AssetsAdded
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// RiskScores: Read the scores of up to 1,000 people. **Extension, additive.** The two numbers of `GET
// /cyber/score/{userhash}` for each of the people, in the order asked for. A user hash that breaks its rule has a
// `detail` instead. A repeat under the same idempotency key answers with the present numbers.
func (c *Client) RiskScores(ctx context.Context, body UserHashes, opts ...Option) (RiskScores, error) {
	k := newAPICall("POST", "/cyber/scores", []string{}, opts)
	k.keyed = true
	var answer RiskScores
	err := c.do(ctx, k, body, &answer)
	return answer, err
}

// GetStatistics: Read statistics by day. **Extension, additive.** Scope `manage:read`. For each of the last `days`,
// oldest first: findings made, alerts (`monitoring.leak_detected`), subscriptions created and cases opened. Days are
// those of Brasília; today's numbers are some minutes old.
func (c *Client) GetStatistics(ctx context.Context, opts ...Option) (Statistics, error) {
	k := newAPICall("GET", "/statistics", []string{}, opts)
	var answer Statistics
	err := c.do(ctx, k, nil, &answer)
	return answer, err
}
