import assert from "node:assert/strict";
import test from "node:test";

import { notCreatedIndex } from "../src/bulk.js";
import { userHash, verifyWebhook, Vigia, VigiaError, WebhookError } from "../src/index.js";

test("userHash gives the vectors of the contract", () => {
  const sameStart = (cpf: string, salt: string) => userHash(cpf, salt).slice(0, 16);
  assert.equal(sameStart("529.982.247-25", "sal-do-parceiro-1"), "f3a6d2a6bf5aab2f");
  assert.equal(sameStart("11144477735", "Zq8vN2kXw5"), "9b9c62fb3f35c047");
  assert.equal(sameStart("12345678909", "açúcar e sal"), "25196ab6944c3ffd");
});

test("the places of failed items are read in all forms", () => {
  assert.deepEqual(notCreatedIndex(null), []);
  assert.deepEqual(notCreatedIndex("3,17,18"), [3, 17, 18]);
  assert.deepEqual(notCreatedIndex("3,17-19,40"), [3, 17, 18, 19, 40]);
  assert.deepEqual(notCreatedIndex(":kAE=:"), [0, 3, 15]);
});

const key = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const body = Buffer.from('{"type":"webhook.test","timestamp":"2026-01-01T00:00:00.000Z","data":{}}');
const headers: Record<string, string> = {
  "webhook-id": "evt_01",
  "webhook-timestamp": "1767225600",
  "webhook-signature": "v1,1Qp0M5Hv93Rwt6Qq3UGb44dbw/dgDfjNUHMuZBbTi30=",
};
const at = new Date(1767225600_000);

test("a signed webhook is accepted, with the old or the new key", () => {
  const other = "whsec_ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoM=";
  assert.equal(verifyWebhook([other, key], headers, body, at).body.type, "webhook.test");
});

test("anything else is refused, with its reason", () => {
  const refused = (reason: string, change: { keys?: string[]; headers?: Record<string, string>; body?: Buffer; now?: Date }) =>
    assert.throws(
      () => verifyWebhook(change.keys ?? [key], new Headers({ ...headers, ...change.headers }), change.body ?? body, change.now ?? at),
      (error) => error instanceof WebhookError && error.reason === reason,
      reason,
    );
  refused("key", { keys: [] });
  refused("key", { keys: ["whsec_AAEC"] });
  refused("headers", { headers: { "webhook-id": "" } });
  refused("headers", { headers: { "webhook-id": "evt.01" } });
  refused("headers", { headers: { "webhook-timestamp": "01767225600" } });
  refused("timestamp", { now: new Date(at.getTime() + 301_000) });
  refused("timestamp", { now: new Date(at.getTime() - 301_000) });
  refused("signature", { body: Buffer.concat([body, Buffer.from(" ")]) });
  refused("signature", { headers: { "webhook-id": "evt_02" } });
  refused("signature", { headers: { "webhook-signature": "v1,xxxx" } });
});

test("attempts share their idempotency key and wait as long as they were told", async () => {
  const keys: (string | null)[] = [];
  const waits: number[] = [];
  const statuses = [503, 429, 200];
  const vigia = new Vigia({
    url: "http://vigia.test/v1/",
    key: "k",
    sleep: async (ms) => void waits.push(ms),
    fetch: async (request) => {
      assert.equal(request.url, "http://vigia.test/v1/cyber/monitoring");
      assert.equal(request.redirect, "manual");
      keys.push(request.headers.get("idempotency-key"));
      const status = statuses.shift() ?? 200;
      return Response.json({ status: 200, description: "ok" }, { status, headers: { "retry-after": "7" } });
    },
  });
  await vigia.addMonitoredAsset({ type: "email", value: "a@exemplo.com.br", userHash: "u" });
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.ok(keys[0]);
  assert.deepEqual(waits, [7000, 7000]);
});

test("what cannot pass by itself is not repeated, and a check of a password carries no key", async () => {
  for (const status of [400, 403, 404, 409, 422]) {
    let calls = 0;
    const vigia = new Vigia({
      url: "http://vigia.test",
      key: "k",
      fetch: async (request) => {
        calls++;
        assert.equal(request.headers.get("idempotency-key"), null);
        assert.deepEqual(await request.json(), { passwordHashPrefix: "5baa61e4c9" });
        return Response.json({ statusCode: status, message: "x" }, { status });
      },
    });
    await assert.rejects(vigia.checkPassword("password"), (error) => error instanceof VigiaError && error.statusCode === status);
    assert.equal(calls, 1);
  }
});

test("the longest wait that a call makes by itself is a minute", async () => {
  for (const [seconds, attempts] of [["60", 4], ["61", 1], ["3180", 1]] as const) {
    let calls = 0;
    const vigia = new Vigia({
      url: "http://vigia.test",
      key: "k",
      sleep: async () => {},
      fetch: async () => {
        calls++;
        return Response.json({ statusCode: 429, message: "x" }, { status: 429, headers: { "retry-after": seconds } });
      },
    });
    await assert.rejects(vigia.listSupportServices(), (error) => error instanceof VigiaError && error.retryAfter === Number(seconds));
    assert.equal(calls, attempts);
  }
});
