// Sending: which answers are final, how long to wait before another attempt. Everything sent here is safe to repeat: reads,
// removals, posts that carry the same idempotency key on every attempt, and questions about passwords.
import { randomUUID } from "node:crypto";

import { notCreatedIndex } from "./bulk.js";
import type { ErrorCode } from "./codes.js";

/** Something that sends a request, as the global `fetch` does. */
export type Fetch = (request: Request) => Promise<Response>;

/** Where the service is and who calls. */
export interface Options {
  /** The address of the partner API; a trailing `/v1` does no harm. */
  url: string;
  /** The partner's API key. */
  key: string;
  /**
   * How often one call is sent at most. Unless given, 4 times for what the service refuses, and for as long as 30 seconds, but
   * not fewer than 4 times, while it cannot be reached.
   */
  attempts?: number;
  /** Sends a request; the global `fetch` unless given. */
  fetch?: Fetch;
  /** Waits between attempts; a timer unless given. */
  sleep?: (ms: number) => Promise<void>;
}

/** What an answer says besides its body. Pass one to a call, and it is filled when the service has answered. */
export interface Reply {
  /** In every log line of the service about this request. */
  requestId?: string;
  /** This is the kept answer to an earlier request with the same idempotency key. */
  replayed?: boolean;
  /** Something was left out: devices beyond the first 1,000, or events that are not kept any more. */
  truncated?: boolean;
  /** What a password was looked up in. */
  corpus?: string;
  /** Places in a bulk request, from 0, of what `not_created_items` is about, in the same order. */
  notCreatedIndex?: number[];
  /**
   * How many of the values that the request adds, or the answer lists, wait for their first look into known breaches. Until
   * then `monitorado` means that a value was not looked up yet.
   */
  firstLooksWaiting?: number;
  /** When the last of the listed values will have had it, in ISO 8601; empty where none waits. */
  firstLooksUntil?: string;
  /** How often the request was sent. */
  attempts?: number;
}

/** What one call may say besides its values. */
export interface CallOptions {
  /** Names a POST by a key of your own, so that it is safe to repeat even after a restart. A random one unless given. */
  idempotencyKey?: string;
  /** Is taken over by the service and comes back in the reply. */
  requestId?: string;
  reply?: Reply;
  signal?: AbortSignal;
}

/** A refusal by the service. */
export class VigiaError extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
    /** The field and the rule, in ASCII; never a value that was sent. */
    readonly detail: string,
    /** In every log line of the service about this request. */
    readonly requestId: string,
    /** Seconds to wait; 0 where the service did not say. */
    readonly retryAfter: number,
    /** What an earlier attempt made whose answer, with a secret in it, was lost; empty in all other refusals. */
    readonly createdId = "",
    /** Names the refusal: `ErrorCode.assetNotFound`, say, or a newer one. Empty where another than the service answered. */
    readonly code: ErrorCode | (string & {}) = "",
  ) {
    super(message);
    this.name = "VigiaError";
  }
}

const firstPause = 200;
const longestPause = 10_000;
/** The longest `Retry-After` that is waited for, in seconds. A caller decides about a longer one by the error. */
const longestWait = 60;

/** Doubles from attempt to attempt, up to a limit, and is spread by half, so that many callers do not come back at once. */
function pause(attempt: number): number {
  const full = Math.min(firstPause * 2 ** (attempt - 1), longestPause);
  return full / 2 + (Math.random() * full) / 2;
}

const defaultAttempts = 4;
/** How long a call goes on by default while the service cannot be reached, in milliseconds. */
const patience = 30_000;

/**
 * Whether the service itself was not reached: there was no answer, or a balancer answered, as it does while the service
 * restarts. The service's own 503 says when to come back.
 */
function unreachable(response: Response | undefined): boolean {
  return response === undefined || ([502, 503, 504].includes(response.status) && retryAfter(response.headers) === 0);
}

/** What the service asked for, in seconds; 0 where it did not. */
function retryAfter(headers: Headers): number {
  const seconds = Number(headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

/** Refusals that may pass by themselves, and soon. A conflict does only where the service says when. */
function worthRepeating(response: Response): boolean {
  const wait = retryAfter(response.headers);
  return wait <= longestWait && ([429, 500, 502, 503, 504].includes(response.status) || (response.status === 409 && wait > 0));
}

const timer = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** A value as one segment of a path. */
export const part = (value: string): string => encodeURIComponent(value);

interface How {
  o: CallOptions;
  body?: unknown;
  keyed?: boolean;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string | undefined>;
}

/** Sends the requests of one partner. */
export class Sender {
  readonly #base: string;
  readonly #key: string;
  readonly #attempts: number | undefined;
  readonly #send: Fetch;
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(options: Options) {
    this.#base = options.url.replace(/\/+$/, "").replace(/\/v1$/, "") + "/v1";
    this.#key = options.key;
    this.#attempts = options.attempts;
    this.#send = options.fetch ?? ((request) => globalThis.fetch(request));
    this.#sleep = options.sleep ?? timer;
  }

  /** Sends until an answer is final, and returns its JSON. Redirects are not followed: they would carry the key away. */
  protected async call<T>(method: string, path: string, how: How): Promise<T> {
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(how.query ?? {})) if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = new Headers({ "x-api-key": this.#key, accept: "application/json" });
    const named = { ...how.headers, "x-request-id": how.o.requestId };
    for (const [name, value] of Object.entries(named)) if (value !== undefined) headers.set(name, value);
    if (how.keyed) headers.set("idempotency-key", how.o.idempotencyKey ?? randomUUID());
    const init: RequestInit = { method, headers, redirect: "manual" };
    if (how.o.signal) init.signal = how.o.signal;
    if (how.body !== undefined) {
      headers.set("content-type", "application/json");
      init.body = JSON.stringify(how.body);
    }
    let refusals = 0;
    let spent = 0; // in attempts and in pauses
    for (let attempt = 1; ; attempt++) {
      const began = performance.now();
      let lost: unknown;
      const response = await this.#send(new Request(url, init)).catch((cause: unknown) => {
        lost = cause;
        return undefined;
      });
      spent += performance.now() - began;
      if (response !== undefined) {
        fill(how.o.reply, response.headers, attempt);
        if (response.status === 200) return (await response.json()) as T;
        if (!unreachable(response)) refusals++;
      }
      if (how.o.signal?.aborted || !this.#again(response, attempt, refusals, spent)) {
        throw response === undefined ? lost : await refusal(response);
      }
      let wait = pause(attempt);
      if (response !== undefined) {
        wait = Math.max(wait, retryAfter(response.headers) * 1000);
        await response.body?.cancel();
      }
      await this.#sleep(wait);
      spent += wait;
      how.o.signal?.throwIfAborted();
    }
  }

  /**
   * Whether a call goes on. Unless the caller set a limit for all attempts, those that did not reach the service do not count
   * as refusals.
   */
  #again(response: Response | undefined, attempt: number, refusals: number, spent: number): boolean {
    if (response !== undefined && !worthRepeating(response)) return false;
    if (this.#attempts !== undefined) return attempt < this.#attempts;
    if (unreachable(response)) return attempt < defaultAttempts || spent < patience;
    return refusals < defaultAttempts;
  }
}

/** A body that is not the service's own, a proxy's page say, is not repeated. */
async function refusal(response: Response): Promise<VigiaError> {
  const wire: unknown = await response.json().catch(() => undefined);
  const said = typeof wire === "object" && wire !== null && "message" in wire ? String(wire.message) : response.statusText;
  const header = (name: string) => response.headers.get(name) ?? "";
  return new VigiaError(
    response.status,
    said,
    header("x-error-detail"),
    header("x-request-id"),
    retryAfter(response.headers),
    header("x-created-id"),
    header("x-error-code"),
  );
}

function fill(reply: Reply | undefined, headers: Headers, attempts: number): void {
  if (reply === undefined) return;
  reply.requestId = headers.get("x-request-id") ?? "";
  reply.replayed = headers.get("idempotency-replayed") === "true";
  reply.truncated = headers.get("x-truncated") === "true";
  reply.corpus = headers.get("x-corpus") ?? "";
  reply.notCreatedIndex = notCreatedIndex(headers.get("x-not-created-index"));
  reply.firstLooksWaiting = Number(headers.get("x-first-looks-waiting") ?? "0");
  reply.firstLooksUntil = headers.get("x-first-looks-until") ?? "";
  reply.attempts = attempts;
}
