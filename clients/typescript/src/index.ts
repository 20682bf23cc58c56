/**
 * A client of the Vigia partner API. Its types and methods are made from the contract; beside them is what a document cannot
 * say: the key on every request, one idempotency key per call, attempts after failures, refusals as errors, and pages as one
 * walk. For servers only: an API key does not belong into a browser.
 */
import { createHash } from "node:crypto";

import { Operations } from "./operations.js";
import type { BreachFacts, EventPage, ListedSubscription, PasswordExposure } from "./schemas.js";
import type { CallOptions } from "./send.js";

export type * from "./schemas.js";
export { ErrorCode } from "./codes.js";
export { userHash } from "./person.js";
export { type CallOptions, type Fetch, type Options, type Reply, VigiaError } from "./send.js";
export { verifyWebhook, WebhookError, type WebhookEvent } from "./webhook.js";

/** Calls the partner API. Methods are named after the operations of the contract, and reject with `VigiaError`. */
export class Vigia extends Operations {
  /** Whether a password is known from breaches. It is hashed here: ten hex characters of its SHA-1 are sent. */
  checkPassword(password: string, o: CallOptions = {}): Promise<PasswordExposure> {
    return this.checkPasswordPrefix({ passwordHashPrefix: hashPrefix(password) }, o);
  }

  /**
   * Whether a password is known together with a value watched for a person. It is hashed here, as in checkPassword. The key
   * needs the scope `credentials`.
   */
  checkCredential(userHash: string, password: string, o: CallOptions = {}): Promise<PasswordExposure> {
    return this.checkCredentialPrefix({ userHash, passwordHashPrefix: hashPrefix(password) }, o);
  }

  /** Walks through all subscriptions that have not ended, oldest first. It is no snapshot: one may be missed when another ends. */
  async *subscriptions(o: CallOptions = {}): AsyncGenerator<ListedSubscription> {
    for (let page = 1, more = true; more; page++) {
      const { data, pagination } = await this.listSubscriptions({ ...o, page, pageSize: 100 });
      yield* data;
      more = pagination.has_next;
    }
  }

  /** Walks through the catalogue of published breaches, newest first. */
  async *breaches(o: CallOptions = {}): AsyncGenerator<BreachFacts> {
    for (let page = 1, more = true; more; page++) {
      const { breaches, hasNext } = await this.listBreaches({ ...o, page, pageSize: 100 });
      yield* breaches;
      more = hasNext;
    }
  }

  /** Walks from a cursor to the newest event, page by page. Keep `next` once the events of a page are handled. */
  async *eventPages(after = "", o: CallOptions = {}): AsyncGenerator<EventPage> {
    for (let more = true; more; ) {
      const page = await this.listEvents({ ...o, ...(after === "" ? {} : { after }), limit: 500 });
      yield page;
      after = page.next;
      more = page.hasMore;
    }
  }
}

function hashPrefix(password: string): string {
  return createHash("sha1").update(password, "utf8").digest("hex").slice(0, 10);
}
