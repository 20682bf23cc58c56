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
  throw new VigiaError(response.status, said, header("x-error-detail"), header("x-request-id"), retryAfter(response.headers));
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

  findings(userHash: string, o: CallOptions = {}): Promise<Schemas["Finding"][]> {
    return unwrap(this.api.GET("/cyber/findings/{userhash}", { params: { path: { userhash: userHash } }, ...signalOf(o) }));
  }

  async resolve(id: string, resolution: Schemas["Resolution"], o: CallOptions = {}): Promise<void> {
    const { params, ...rest } = this.post(o);
    await unwrap(this.api.POST("/cyber/findings/{id}/resolve", { body: resolution, params: { ...params, path: { id } }, ...rest }));
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
