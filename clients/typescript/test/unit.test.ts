import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import test, { type TestContext } from "node:test";

import { notCreatedIndex } from "../src/bulk.js";
import { ErrorCode, type Reply, userHash, verifyWebhook, Vigia, VigiaError, WebhookError } from "../src/index.js";

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

/** A service that gives one answer after the other; the last one stays. Pauses pass at once and are added up. */
async function stand(t: TestContext, ...answers: ((response: ServerResponse) => void)[]) {
  const state = { answers, seen: 0, waited: 0, url: "" };
  const server = createServer((request, response) => {
    state.seen++;
    request.resume();
    request.on("end", () => (state.answers.length > 1 ? state.answers.shift() : state.answers[0])?.(response));
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

const lose = (response: ServerResponse) => void response.socket?.destroy();
const says = (status: number, headers: Record<string, string> = {}) => (response: ServerResponse) =>
  void response.writeHead(status, { connection: "close", "content-type": "application/json", ...headers }).end("{}");

test("a restart of the service is waited out", async (t) => {
  const asset = { type: "email", value: "a@exemplo.com.br", userHash: "u" } as const;
  for (const down of [lose, says(503), says(502), says(504)]) {
    const back = await stand(t, down);
    const sleep = async (ms: number) => {
      back.waited += ms;
      if (back.waited >= 29_000) back.answers = [says(200)];
    };
    await new Vigia({ url: back.url, key: "k", sleep }).addMonitoredAsset(asset);
    assert.ok(back.waited < 40_000);

    const gone = await stand(t, down);
    const patient = new Vigia({ url: gone.url, key: "k", sleep: async (ms) => void (gone.waited += ms) });
    await assert.rejects(patient.addMonitoredAsset(asset));
    assert.ok(gone.waited >= 29_000 && gone.waited < 45_000, `gave up after ${gone.waited} ms`);

    const seen = gone.seen;
    const hasty = new Vigia({ url: gone.url, key: "k", attempts: 2, sleep: async () => {} });
    await assert.rejects(hasty.addMonitoredAsset(asset));
    assert.equal(gone.seen - seen, 2);
  }
  const busy = says(429, { "retry-after": "1" });
  const both = await stand(t, lose, lose, lose, lose, lose, lose, busy, busy, busy, says(200));
  await new Vigia({ url: both.url, key: "k", sleep: async () => {} }).addMonitoredAsset(asset);
  assert.equal(both.seen, 10);
});

test("an error has the code of the service, and a reply tells what waits", async (t) => {
  const told = { "x-first-looks-waiting": "3", "x-first-looks-until": "2026-01-31T03:00:00.000Z" };
  const service = await stand(t, says(404, { "x-error-code": "asset.not_found" }), says(404), says(200, told), says(200));
  const vigia = new Vigia({ url: service.url, key: "k" });
  for (const code of [ErrorCode.assetNotFound, ""]) {
    await assert.rejects(vigia.listMonitoredAssets("u"), (error) => error instanceof VigiaError && error.code === code);
  }
  for (const [waiting, until] of [[3, "2026-01-31T03:00:00.000Z"], [0, ""]] as const) {
    const reply: Reply = {};
    await vigia.listMonitoredAssets("u", { reply });
    assert.deepEqual([reply.firstLooksWaiting, reply.firstLooksUntil], [waiting, until]);
  }
});
