/**
 * A client of the Vigia partner API. The types come from the contract (schema.ts is generated from openapi.yaml); this file adds
 * what a document cannot say: the key on every request, one idempotency key per call, attempts after failures, refusals as
 * errors, and pages as one walk. For servers only: an API key does not belong into a browser.
 */
import { randomUUID } from "node:crypto";

import createClient, { type Client } from "openapi-fetch";

import { notCreatedIndex } from "./bulk.js";
import type { components, paths } from "./schema.js";
import { type Fetch, retryAfter, retrying } from "./send.js";

export type { components, operations, paths } from "./schema.js";
export { userHash } from "./person.js";
export { type EventBody, verifyWebhook, WebhookError, type WebhookEvent } from "./webhook.js";

type Schemas = components["schemas"];

/** Where the service is and who calls. */
export interface Options {
  /** The address of the partner API; a trailing `/v1` does no harm. */
  url: string;
  /** The partner's API key. */
  key: string;
  /** How often one call is sent at most; 4 unless given. */
  attempts?: number;
  /** Sends a request; the global `fetch` unless given. */
  fetch?: Fetch;
  /** Waits between attempts; a timer unless given. */
  sleep?: (ms: number) => Promise<void>;
}

/** What one call may say besides its values. */
export interface CallOptions {
  /** Names a POST by a key of your own, so that it is safe to repeat even after a restart. A random one unless given. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** What became of a bulk request. `notCreatedIndex[n]` is the place in `items` of what `not_created_items[n]` is about. */
export type BulkOutcome = Schemas["BulkOutcome"] & { notCreatedIndex: number[] };

/** A refusal by the service. */
export class VigiaError extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
    /** The field and the rule, in ASCII; never a value that was sent. */
    readonly detail: string,
    /** In every log line of the service about this request. */
    readonly requestId: string,
    /** Milliseconds to wait; 0 where the service did not say. */
    readonly retryAfter: number,
    /** What an earlier attempt made whose answer, with a secret in it, was lost; empty in all other refusals. */
    readonly createdId = "",
  ) {
    super(message);
    this.name = "VigiaError";
  }
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

async function unwrap<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok && data !== undefined) return data;
  const said = typeof error === "object" && error !== null && "message" in error ? String(error.message) : response.statusText;
  const header = (name: string) => response.headers.get(name) ?? "";
  throw new VigiaError(response.status, said, header("x-error-detail"), header("x-request-id"), retryAfter(response.headers), header("x-created-id"));
}

export class Vigia {
  /** The typed calls underneath, for what the methods below leave out. */
  readonly api: Client<paths>;

  constructor(options: Options) {
    const send = options.fetch ?? ((request) => globalThis.fetch(request));
    this.api = createClient<paths>({
      baseUrl: options.url.replace(/\/+$/, "").replace(/\/v1$/, "") + "/v1",
      headers: { "x-api-key": options.key, accept: "application/json" },
      fetch: retrying(send, options.attempts ?? 4, options.sleep),
    });
  }

  private post(o: CallOptions) {
    return { params: { header: { "Idempotency-Key": o.idempotencyKey ?? randomUUID() } }, ...signalOf(o) };
  }

  async addAsset(asset: Schemas["NewMonitoredAsset"], o: CallOptions = {}): Promise<void> {
    await unwrap(this.api.POST("/cyber/monitoring", { body: asset, ...this.post(o) }));
  }

  assets(userHash: string, o: CallOptions = {}): Promise<Schemas["MonitoredAsset"][]> {
    return unwrap(this.api.GET("/cyber/monitoring/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) }));
  }

  async removeAsset(userHash: string, id: string, o: CallOptions = {}): Promise<void> {
    await unwrap(this.api.DELETE("/cyber/monitoring/{id}/{userhash}", { params: { path: { id, userhash: userHash } }, ...signalOf(o) }));
  }

  /** Watches a random Pix key or a CNPJ: kinds that the contract's own operations do not know. */
  async addExtra(asset: Schemas["NewExtraAsset"], o: CallOptions = {}): Promise<void> {
    await unwrap(this.api.POST("/cyber/monitoring/extra", { body: asset, ...this.post(o) }));
  }

  extras(userHash: string, o: CallOptions = {}): Promise<Schemas["ExtraAsset"][]> {
    return unwrap(this.api.GET("/cyber/monitoring/extra/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) }));
  }

  async removeExtra(userHash: string, id: string, o: CallOptions = {}): Promise<void> {
    const path = { id, userhash: userHash };
    await unwrap(this.api.DELETE("/cyber/monitoring/extra/{id}/{userhash}", { params: { path }, ...signalOf(o) }));
  }

  async openCase(newCase: Schemas["NewCase"], o: CallOptions = {}): Promise<Schemas["OpenedCase"]["task"]> {
    return (await unwrap(this.api.POST("/cyber/case", { body: newCase, ...this.post(o) }))).task;
  }

  async services(o: CallOptions = {}): Promise<Schemas["ServiceList"]["services"]> {
    return (await unwrap(this.api.GET("/cyber/services", signalOf(o)))).services;
  }

  /** What a service asks before a case is opened, and the times that are free. */
  service(id: string, o: CallOptions = {}): Promise<Schemas["ServiceDetail"]> {
    return unwrap(this.api.GET("/cyber/services/{id}", { params: { path: { id } }, ...signalOf(o) }));
  }

  cases(userHash: string, o: CallOptions = {}): Promise<Schemas["CaseItem"][]> {
    return unwrap(this.api.GET("/cyber/cases/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) }));
  }

  case(userHash: string, id: string, o: CallOptions = {}): Promise<Schemas["CaseDetail"]> {
    return unwrap(this.api.GET("/cyber/case/{id}/history/{userhash}", { params: { path: { id, userhash: userHash } }, ...signalOf(o) }));
  }

  async replyToCase(id: string, message: Schemas["CaseMessage"], o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/case/{id}/messages", { body: message, params: { ...params, path: { id } }, ...rest }));
  }

  async cancelCase(id: string, cancellation: Schemas["CaseCancellation"], o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/case/{id}/cancel", { body: cancellation, params: { ...params, path: { id } }, ...rest }));
  }

  /** Takes the first of the times that is free in place of the one that the case holds. */
  rebookCase(id: string, wishes: Schemas["CaseRebooking"], o: CallOptions = {}): Promise<Schemas["CaseItem"]> {
    const { params, ...rest } = this.post(o);
    return unwrap(this.api.POST("/cyber/case/{id}/rebook", { body: wishes, params: { ...params, path: { id } }, ...rest }));
  }

  async rateCase(id: string, rating: Schemas["CaseRating"], o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/case/{id}/rate", { body: rating, params: { ...params, path: { id } }, ...rest }));
  }

  issueKey(device: Omit<Schemas["NewProtectionKey"], "type">, o: CallOptions = {}): Promise<Schemas["ProtectionKey"]> {
    return unwrap(this.api.POST("/cyber/epp", { body: { ...device, type: "antivirus" }, ...this.post(o) }));
  }

  /** The protected devices of a person; without one, all of the partner's, at most 1,000. */
  async devices(userHash?: string, o: CallOptions = {}): Promise<Schemas["ProtectedDeviceList"]["protectedDevices"]> {
    const params = userHash === undefined ? {} : { header: { "x-user-hash": userHash } };
    return (await unwrap(this.api.GET("/cyber/epp", { params, ...signalOf(o) }))).protectedDevices;
  }

  /** Where a key stands; `key` is its id or the activation key itself, here and below. */
  protection(key: string, o: CallOptions = {}): Promise<Schemas["ProtectionKeyDetail"]> {
    return unwrap(this.api.GET("/cyber/epp/{key}", { params: { path: { key } }, ...signalOf(o) }));
  }

  /** The program on the device accepted the key: the device is protected from now on. */
  async activateProtection(key: string, o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/epp/{key}/activate", { body: {}, params: { ...params, path: { key } }, ...rest }));
  }

  /** The program on the device runs. */
  async protectionSeen(key: string, o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/epp/{key}/heartbeat", { body: {}, params: { ...params, path: { key } }, ...rest }));
  }

  async revokeProtection(key: string, revocation: Schemas["ProtectionKeyRevocation"], o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/epp/{key}/revoke", { body: revocation, params: { ...params, path: { key } }, ...rest }));
  }

  /** Ends a key and issues one for another device of the same person, valid until the same time. */
  moveProtection(key: string, device: Schemas["ProtectionKeyMove"], o: CallOptions = {}): Promise<Schemas["MovedProtectionKey"]> {
    const { params, ...rest } = this.post(o);
    return unwrap(this.api.POST("/cyber/epp/{key}/move", { body: device, params: { ...params, path: { key } }, ...rest }));
  }

  /** Takes the first ten hex characters of a SHA-1 or NTLM hash. No idempotency key: such an answer should be kept nowhere. */
  checkPassword(passwordHashPrefix: string, o: CallOptions = {}): Promise<Schemas["PasswordExposure"]> {
    return unwrap(this.api.POST("/cyber/password-check", { body: { passwordHashPrefix }, ...signalOf(o) }));
  }

  /**
   * Whether a password, by the first ten hex characters of its SHA-1, is known together with a value watched for a person.
   * The key needs the scope `credentials`. No idempotency key, as for checkPassword.
   */
  checkCredential(userHash: string, passwordHashPrefix: string, o: CallOptions = {}): Promise<Schemas["PasswordExposure"]> {
    return unwrap(this.api.POST("/cyber/credential-check", { body: { userHash, passwordHashPrefix }, ...signalOf(o) }));
  }

  advise(userHash: string, o: CallOptions = {}): Promise<Schemas["Advice"][]> {
    return unwrap(this.api.GET("/cyber/advise/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) }));
  }

  async answer(userHash: string, answer: Schemas["Answer"], o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(
      this.api.POST("/cyber/advise/{userhash}/answers", { body: answer, params: { ...params, path: { userhash: userHash } }, ...rest }),
    );
  }

  score(userHash: string, o: CallOptions = {}): Promise<Schemas["RiskScore"]> {
    return unwrap(this.api.GET("/cyber/score/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) }));
  }

  async coverage(userHash: string, o: CallOptions = {}): Promise<Schemas["Coverage"]["detalhesCobertura"]> {
    const call = this.api.GET("/cyber/insurance/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) });
    return (await unwrap(call)).detalhesCobertura;
  }

  /** Every plan in force, the highest limit first, with sub-limits, waiting period and dates; an error of status 404 without any. */
  async cover(userHash: string, o: CallOptions = {}): Promise<Schemas["Cover"][]> {
    const call = this.api.GET("/cyber/cover/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) });
    return (await unwrap(call)).coberturas;
  }

  /** The days on which the score was asked for and had changed, oldest first. */
  scoreHistory(userHash: string, o: CallOptions = {}): Promise<Schemas["ScorePoint"][]> {
    return unwrap(this.api.GET("/cyber/score/{userhash}/history", { params: { path: { userhash: userHash } }, ...signalOf(o) }));
  }

  /** A link to the person's own page, good for a few minutes: a secret until it expires. */
  portalSession(request: Schemas["PortalRequest"], o: CallOptions = {}): Promise<Schemas["PortalLink"]> {
    return unwrap(this.api.POST("/cyber/portal-session", { body: request, ...this.post(o) }));
  }

  findings(userHash: string, o: CallOptions = {}): Promise<Schemas["Finding"][]> {
    return unwrap(this.api.GET("/cyber/findings/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) }));
  }

  async resolve(id: string, resolution: Schemas["Resolution"], o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/findings/{id}/resolve", { body: resolution, params: { ...params, path: { id } }, ...rest }));
  }

  /** What to do about a finding, in order; the texts are in Portuguese unless another language is asked for. */
  plan(userHash: string, id: string, o: CallOptions & { lang?: Schemas["Language"] } = {}): Promise<Schemas["FindingPlan"]> {
    const query = o.lang ? { lang: o.lang } : {};
    const params = { path: { id, userhash: userHash }, query };
    return unwrap(this.api.GET("/cyber/findings/{id}/plan/{userhash}", { params, ...signalOf(o) }));
  }

  async markStep(id: string, step: string, mark: Schemas["StepMark"], o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/findings/{id}/steps/{step}", { body: mark, params: { ...params, path: { id, step } }, ...rest }));
  }

  /** Looks at a finding again after its steps: with none left it is resolved. */
  recheck(id: string, who: Schemas["Recheck"], o: CallOptions = {}): Promise<Schemas["Rechecked"]> {
    const { params, ...rest } = this.post(o);
    return unwrap(this.api.POST("/cyber/findings/{id}/recheck", { body: who, params: { ...params, path: { id } }, ...rest }));
  }

  /** Creates up to 10,000 subscriptions. A refused item is in the outcome and is no error; with an error nothing was created. */
  async createSubscriptions(items: Schemas["NewSubscription"][], o: CallOptions & { dryRun?: boolean } = {}): Promise<BulkOutcome> {
    const { params, ...rest } = this.post(o);
    const query = o.dryRun ? { dry_run: true } : {};
    const call = this.api.POST("/subscriptions", { body: items, params: { ...params, query }, ...rest });
    const outcome = await unwrap(call);
    return { ...outcome, notCreatedIndex: notCreatedIndex((await call).response.headers.get("x-not-created-index")) };
  }

  subscriptionPage(page: number, pageSize = 10, o: CallOptions = {}): Promise<Schemas["SubscriptionPage"]> {
    return unwrap(this.api.GET("/subscriptions", { params: { query: { page, page_size: pageSize } }, ...signalOf(o) }));
  }

  /** Walks through all active subscriptions, oldest first. */
  async *subscriptions(o: CallOptions = {}): AsyncGenerator<Schemas["ListedSubscription"]> {
    for (let page = 1, more = true; more; page++) {
      const { data, pagination } = await this.subscriptionPage(page, 100, o);
      yield* data;
      more = pagination.has_next;
    }
  }

  subscription(planId: string, cpf: string, o: CallOptions = {}): Promise<Schemas["Subscription"]> {
    const path = { plan_id: planId, beneficiary_cpf: cpf };
    return unwrap(this.api.GET("/subscriptions/{plan_id}/{beneficiary_cpf}", { params: { path }, ...signalOf(o) }));
  }

  /** Watches up to 1,000 values. A refused one is in the outcome and is no error. */
  addAssets(items: Schemas["NewMonitoredAsset"][], o: CallOptions = {}): Promise<Schemas["AssetsAdded"]> {
    return unwrap(this.api.POST("/cyber/assets", { body: { items }, ...this.post(o) }));
  }

  /** The scores of up to 1,000 people, in the order asked for. */
  async scores(userHashes: string[], o: CallOptions = {}): Promise<Schemas["RiskScores"]["scores"]> {
    return (await unwrap(this.api.POST("/cyber/scores", { body: { userHashes }, ...this.post(o) }))).scores;
  }

  /** Ends, suspends, resumes or edits the subscription in force. */
  changeSubscription(
    planId: string,
    cpf: string,
    change: Schemas["SubscriptionChange"],
    o: CallOptions = {},
  ): Promise<Schemas["SubscriptionState"]> {
    const { params, ...rest } = this.post(o);
    const path = { plan_id: planId, beneficiary_cpf: cpf };
    return unwrap(this.api.POST("/subscriptions/{plan_id}/{beneficiary_cpf}/changes", { body: change, params: { ...params, path }, ...rest }));
  }

  /** The same move for the subscriptions of up to 1,000 people to one plan. */
  moveSubscriptions(moves: Schemas["SubscriptionMoves"], o: CallOptions = {}): Promise<Schemas["SubscriptionsMoved"]> {
    return unwrap(this.api.POST("/subscription-moves", { body: moves, ...this.post(o) }));
  }

  /** Edits of the subscriptions of up to 1,000 people to one plan. A refused one is in the outcome and is no error. */
  editSubscriptions(edits: Schemas["SubscriptionEdits"], o: CallOptions = {}): Promise<Schemas["SubscriptionsEdited"]> {
    return unwrap(this.api.POST("/subscription-changes", { body: edits, ...this.post(o) }));
  }

  /** Findings, alerts, enrolments and cases of the last days, oldest first. */
  async statistics(days = 30, o: CallOptions = {}): Promise<Schemas["Statistics"]["days"]> {
    return (await unwrap(this.api.GET("/statistics", { params: { query: { days } }, ...signalOf(o) }))).days;
  }

  /** The published breaches, newest first: public facts alone. */
  breachPage(page = 1, pageSize = 50, o: CallOptions = {}): Promise<Schemas["BreachPage"]> {
    return unwrap(this.api.GET("/cyber/breaches", { params: { query: { page, page_size: pageSize } }, ...signalOf(o) }));
  }

  breach(name: string, o: CallOptions = {}): Promise<Schemas["BreachFacts"]> {
    return unwrap(this.api.GET("/cyber/breaches/{name}", { params: { path: { name } }, ...signalOf(o) }));
  }

  webhooks(o: CallOptions = {}): Promise<Schemas["Webhook"][]> {
    return unwrap(this.api.GET("/webhooks", signalOf(o)));
  }

  /** Registers an address for events. The secret is shown this once. */
  createWebhook(webhook: Schemas["NewWebhook"], o: CallOptions = {}): Promise<Schemas["WebhookSecret"]> {
    return unwrap(this.api.POST("/webhooks", { body: webhook, ...this.post(o) }));
  }

  webhook(id: string, o: CallOptions = {}): Promise<Schemas["WebhookDetail"]> {
    return unwrap(this.api.GET("/webhooks/{id}", { params: { path: { id } }, ...signalOf(o) }));
  }

  async removeWebhook(id: string, o: CallOptions = {}): Promise<void> {
    await unwrap(this.api.DELETE("/webhooks/{id}", { params: { path: { id } }, ...signalOf(o) }));
  }

  /** Holds events back (`paused`), or pushes them, the held ones first (`enabled`). */
  setWebhookState(id: string, state: Schemas["WebhookState"]["state"], o: CallOptions = {}): Promise<Schemas["Webhook"]> {
    const { params, ...rest } = this.post(o);
    return unwrap(this.api.POST("/webhooks/{id}/state", { body: { state }, params: { ...params, path: { id } }, ...rest }));
  }

  rotateWebhookSecret(id: string, overlapHours: number, o: CallOptions = {}): Promise<Schemas["WebhookSecret"]> {
    const { params, ...rest } = this.post(o);
    return unwrap(this.api.POST("/webhooks/{id}/rotate", { body: { overlapHours }, params: { ...params, path: { id } }, ...rest }));
  }

  /** Sends one made-up event of a type now and tells what came of it. */
  testWebhook(id: string, type: Schemas["EventType"], o: CallOptions = {}): Promise<Schemas["WebhookTry"]> {
    const { params, ...rest } = this.post(o);
    return unwrap(this.api.POST("/webhooks/{id}/test", { body: { type }, params: { ...params, path: { id } }, ...rest }));
  }

  async replayWebhook(id: string, which: Schemas["WebhookReplay"], o: CallOptions = {}): Promise<number> {
    const { params, ...rest } = this.post(o);
    const call = this.api.POST("/webhooks/{id}/replay", { body: which, params: { ...params, path: { id } }, ...rest });
    return (await unwrap(call)).deliveries;
  }

  keys(o: CallOptions = {}): Promise<Schemas["Key"][]> {
    return unwrap(this.api.GET("/keys", signalOf(o)));
  }

  /** Makes a key with some of the scopes of the calling one. The key is shown this once. */
  createKey(key: Schemas["NewKey"], o: CallOptions = {}): Promise<Schemas["MadeKey"]> {
    return unwrap(this.api.POST("/keys", { body: key, ...this.post(o) }));
  }

  rollKey(id: string, graceHours: number, o: CallOptions = {}): Promise<Schemas["MadeKey"]> {
    const { params, ...rest } = this.post(o);
    return unwrap(this.api.POST("/keys/{id}/roll", { body: { graceHours }, params: { ...params, path: { id } }, ...rest }));
  }

  /** Revokes a key; the one that this client shows only with `self`. */
  async revokeKey(id: string, o: CallOptions & { self?: boolean } = {}): Promise<void> {
    const query = o.self ? { self: true } : {};
    await unwrap(this.api.DELETE("/keys/{id}", { params: { path: { id }, query }, ...signalOf(o) }));
  }

  usage(days = 30, o: CallOptions = {}): Promise<Schemas["Usage"]> {
    return unwrap(this.api.GET("/usage", { params: { query: { days } }, ...signalOf(o) }));
  }

  /** What to send to the person about an event; 404 for one that people are not told of. */
  message(
    eventId: string,
    channel: Schemas["EventMessage"]["channel"],
    lang: Schemas["EventMessage"]["lang"] = "pt-BR",
    o: CallOptions = {},
  ): Promise<Schemas["EventMessage"]> {
    return unwrap(this.api.GET("/events/{id}/message", { params: { path: { id: eventId }, query: { channel, lang } }, ...signalOf(o) }));
  }

  /** Walks from a cursor to the newest event, page by page. Keep `next` once the events of a page are handled. */
  async *eventPages(after = "", o: CallOptions = {}): AsyncGenerator<Schemas["EventPage"]> {
    for (let more = true; more; ) {
      const query = after === "" ? { limit: 500 } : { after, limit: 500 };
      const page = await unwrap(this.api.GET("/events", { params: { query }, ...signalOf(o) }));
      yield page;
      after = page.next;
      more = page.hasMore;
    }
  }
}

function signalOf(o: CallOptions): { signal?: AbortSignal } {
  return o.signal ? { signal: o.signal } : {};
}
