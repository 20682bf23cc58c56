// Runs against the real service, whose address and secrets come in the environment (clients/clients_test.go starts it).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { type Reply, userHash, Vigia, VigiaError } from "../src/index.js";
import { examples, known } from "./operations.js";

function required(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

const url = required("VIGIA_URL");
const key = required("VIGIA_KEY");
const vigia = new Vigia({ url, key });
known.address = `${url.replace("/v1", "")}/gancho`;
known.userHash = userHash("529.982.247-25", required("VIGIA_SALT"));

test("every operation of the contract has an example, and it runs", async () => {
  const contract = readFileSync(new URL("../../../../internal/web/api/openapi.yaml", import.meta.url), "utf8").split("\nwebhooks:")[0] ?? "";
  const operations = [...contract.matchAll(/^ +operationId: (\w+)$/gm)].map((m) => m[1]).sort();
  assert.deepEqual(Object.keys(examples).sort(), operations);

  for (const [operation, run] of Object.entries(examples)) {
    const lines: string[] = [];
    await run(vigia, (...values) => lines.push(values.join(" "))).catch((cause: unknown) => {
      throw new Error(operation, { cause });
    });
    switch (operation) {
      case "listSupportServices":
        known.serviceId = lines[0]?.split(" ")[0] ?? "";
        break;
      case "listMonitoredAssets":
        known.assetId = lines[0]?.split(" ")[0] ?? "";
        assert.match(lines[0] ?? "", /email ana@vazamento\.test (alerta|comprometido)$/);
        break;
      case "listCases":
        known.caseId = lines[0]?.split(" ")[0] ?? "";
        assert.match(lines[0] ?? "", /^cs_\S+ Aberto /);
        break;
      case "createWebhook":
        known.webhookId = lines[0]?.split(" ")[0] ?? "";
        assert.match(lines[0] ?? "", /^whe_\S+ whsec_/);
        break;
      case "removeWebhook":
        assert.deepEqual(await vigia.listWebhooks(), []);
        break;
      case "createKey":
        known.keyId = lines[0]?.split(" ")[0] ?? "";
        assert.match(lines[0] ?? "", /^key_\S+ vg_test_/);
        break;
      case "requestErasure":
        known.erasureId = lines[0]?.split(" ")[0] ?? "";
        assert.match(lines[0] ?? "", /^er_\S+ pending /);
        break;
      case "cancelErasure":
        assert.equal((await vigia.getErasure(known.erasureId)).state, "cancelled");
        break;
      case "revokeKey":
        assert.equal((await vigia.listKeys()).find((k) => k.id === known.keyId)?.state, "revoked");
        break;
      case "getCase":
        assert.equal(lines.length, 3);
        break;
      case "cancelCase":
        assert.equal((await vigia.getCase(known.caseId, known.userHash)).status, "Cancelado");
        break;
      case "listFindings":
        known.findingId = lines[0]?.split(" ")[0] ?? "";
        assert.ok(known.findingId);
        break;
      case "getPlan":
        assert.equal(lines.length, 3);
        assert.match(lines[0] ?? "", /^change-password /);
        break;
      case "recheckFinding":
        assert.match(lines[0] ?? "", /^open /);
        break;
      case "removeMonitoredAsset":
        assert.deepEqual(await vigia.listMonitoredAssets(known.userHash), []);
        break;
      case "listExtraAssets":
        known.extraId = lines[0]?.split(" ")[0] ?? "";
        assert.match(lines[0] ?? "", /pix_key 123e4567-e89b-42d3-a456-426614174000 monitorado$/);
        break;
      case "removeExtraAsset":
        assert.deepEqual(await vigia.listExtraAssets(known.userHash), []);
        break;
      case "checkPasswordPrefix":
        assert.match(lines[0] ?? "", /^true /);
        break;
      case "listEvents":
        known.eventId = lines[0]?.split(" ")[0] ?? "";
        assert.match(known.eventId, /^evt_/);
        break;
      case "messageOfEvent":
        assert.ok((lines[0] ?? "").length > 20);
        break;
      case "issueProtectionKey":
        known.eppKey = lines[0]?.split(" ")[0] ?? "";
        break;
      case "getProtectionKey":
        assert.match(lines[0] ?? "", /^ek_\S+ active 2/);
        break;
      case "moveProtectionKey":
        known.eppKey = lines[0]?.split(" ")[1] ?? "";
        break;
      case "revokeProtectionKey":
        assert.equal((await vigia.getProtectionKey(known.eppKey)).endReason, "revoked");
        break;
      case "listProtectedDevices":
      case "insuranceCoverage":
      case "listCover":
      case "scoreHistory":
      case "openPortalSession":
      case "listSubscriptions":
      case "subscriptionByPlanAndCpf":
        assert.ok(lines.length > 0, operation);
        break;
    }
  }
});

test("a refusal is an error with status, message, detail and request id", async () => {
  await assert.rejects(vigia.addMonitoredAsset({ type: "email", value: "nobody", userHash: "u" }), (error) => {
    assert.ok(error instanceof VigiaError);
    assert.equal(error.statusCode, 400);
    assert.equal(error.message, "Request Inválida. Dados de entrada inválidos.");
    assert.match(error.detail, /^value: /);
    assert.ok(error.requestId);
    return true;
  });
  const stranger = new Vigia({ url, key: "vg_test_nobody" });
  await assert.rejects(stranger.listSupportServices(), (error) => error instanceof VigiaError && error.statusCode === 403);
  await assert.rejects(stranger.listSubscriptions({ page: 1 }), (error) => error instanceof VigiaError && error.statusCode === 401);
});

test("a list under an idempotency key adds all of its values, once", async () => {
  const live = new Vigia({ url, key: required("VIGIA_LIVE_KEY") });
  const items = Array.from({ length: 1000 }, (_, i) => ({ type: "email" as const, value: `ts${i}@exemplo.com.br`, userHash: `ts-${i}` }));
  for (let again = 0; again < 2; again++) {
    const added = await live.addAssets({ items }, { idempotencyKey: "lista-ts" });
    assert.deepEqual([added.result, added.totalAdded, added.totalNotAdded], ["success", 1000, 0]);
  }
  assert.equal((await live.listMonitoredAssets("ts-999"))[0]?.value, "ts999@exemplo.com.br");
});

test("a lost answer is fetched again, and the work is done once", async () => {
  let calls = 0;
  const lossy = new Vigia({
    url,
    key,
    sleep: async () => {},
    fetch: async (request) => {
      const response = await fetch(request);
      if (++calls === 1) throw new TypeError("connection lost after the service had answered");
      return response;
    },
  });
  const reply: Reply = {};
  const outcome = await lossy.createSubscriptions([
    {
      start_date: "2026-02-01",
      expiry_date: "",
      plan_id: "protecao-retry",
      is_group_plan: false,
      beneficiary: {
        primary_card: "4111111111111111",
        user_card: "4111111111111111",
        name: "Carla Dias",
        cpf: "12345678909",
        birth_date: "1990-01-01",
        gender: "F",
        email: "carla@exemplo.com.br",
        phone_number: "5511987654321",
        address: { zipcode: "01001000", street: "Rua", number: "1", neighborhood: "Centro", city: "São Paulo", state: "SP" },
      },
    },
  ], { reply });
  assert.equal(calls, 2);
  assert.equal(outcome.total_created_items, 1); // without the same key it would be "assinatura já existe"
  assert.deepEqual([reply.notCreatedIndex, reply.replayed, reply.attempts], [[], true, 2]);
  await lossy.createSubscriptions([{ plan_id: "protecao-retry" } as never, 7 as never], { reply });
  assert.deepEqual(reply.notCreatedIndex, [0, 1]);
});
