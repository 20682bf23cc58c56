import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";

import type { EventBody } from "./schemas.js";

/** A verified webhook; `id` is the same on every repeat. */
export interface WebhookEvent {
  id: string;
  sentAt: Date;
  body: EventBody;
}

/** Why a webhook was refused. Answer 4xx, except to `key`: that is a mistake of your own configuration and deserves a 500. */
export class WebhookError extends Error {
  constructor(readonly reason: "key" | "headers" | "timestamp" | "signature" | "body") {
    super(`webhook refused: ${reason}`);
    this.name = "WebhookError";
  }
}

const toleranceSeconds = 5 * 60;
const maxSignatures = 32;

/** The headers of a request: those of `fetch`, or those of `node:http`. */
type RequestHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Checks a webhook and returns its event. `keys` are those you trust: `whsec_` secrets, `whpk_` public keys, or both. `headers`
 * are those of the request. `body` must be the bytes as received, before any parsing.
 */
export function verifyWebhook(keys: string[], headers: RequestHeaders, body: Uint8Array, now: Date = new Date()): WebhookEvent {
  const verifiers = keys.map(verifierOf);
  if (verifiers.length === 0) throw new WebhookError("key");
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    return typeof value === "string" ? value : undefined; // a header that came twice is none
  });
  if (!id || id.includes(".") || !timestamp || !/^(0|[1-9][0-9]*)$/.test(timestamp) || !signatures) throw new WebhookError("headers");
  const list = signatures.split(" ");
  if (list.length > maxSignatures) throw new WebhookError("headers");
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds) throw new WebhookError("timestamp");
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  if (!list.some((s) => verifiers.some((v) => v(content, s)))) throw new WebhookError("signature");
  return { id, sentAt: new Date(Number(timestamp) * 1000), body: parse(body) };
}

type Verifier = (content: Buffer, signature: string) => boolean;

function verifierOf(key: string): Verifier {
  const bytes = Buffer.from(key.replace(/^(whsec_|whpk_)/, ""), "base64");
  if (key.startsWith("whsec_") && bytes.length >= 24 && bytes.length <= 64) {
    return (content, signature) => {
      const want = Buffer.from("v1," + createHmac("sha256", bytes).update(content).digest("base64"));
      const got = Buffer.from(signature);
      return want.length === got.length && timingSafeEqual(want, got);
    };
  }
  if (key.startsWith("whpk_") && bytes.length === 32) {
    const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), bytes]); // the ASN.1 frame of an ed25519 key
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
    return (content, signature) =>
      signature.startsWith("v1a,") && verify(null, content, publicKey, Buffer.from(signature.slice(4), "base64"));
  }
  throw new WebhookError("key"); // never the key itself
}

function parse(body: Uint8Array): EventBody {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    if (typeof value === "object" && value !== null && "type" in value && typeof value.type === "string") return value as EventBody;
  } catch {
    // falls through: not JSON is as wrong as not an event
  }
  throw new WebhookError("body");
}
