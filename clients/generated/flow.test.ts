// The contract as a stranger's tool reads it: every operation through functions that @hey-api/openapi-ts made of openapi.yaml. Each
// request and each answer must pass the zod schema made of the same document, or the call throws. clients_test.go starts the service.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";

import { createClient } from "./made/client/index.js";
import * as made from "./made/sdk.gen.js";
import { zCyberError, zSubscriptionError } from "./made/zod.gen.js";

function required(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

const url = required("VIGIA_URL");
const key = required("VIGIA_KEY");
const salt = required("VIGIA_SALT");

const clientAt = (base: string, auth = key) => createClient({ baseUrl: url + base, auth });

const digest = (cpf: string) => createHash("blake2b512").update(cpf + salt).digest();

// Which functions were called, so that none is forgotten.
const used = new Set<string>();
const sdk = new Proxy(made, {
  get(functions, name: keyof typeof made) {
    used.add(name);
    return functions[name];
  },
}) as typeof made;

// good is the answer of a call that succeeded. An answer off schema has thrown before.
function good<T>(answer: { data?: T; error?: unknown; response?: Response }): NonNullable<T> {
  assert.equal(answer.response?.status, 200, JSON.stringify(answer.error));
  assert.ok(answer.response?.headers.get("x-request-id"));
  assert.ok(answer.data !== undefined && answer.data !== null);
  return answer.data;
}

// refused holds a refusal against the schema of its area.
function refused(answer: { error?: unknown; response?: Response }, status: number, message: string): Headers {
  assert.equal(answer.response?.status, status);
  const expected = answer.response.url.includes("/subscriptions")
    ? zSubscriptionError.strict().parse(answer.error)
    : zCyberError.strict().parse(answer.error);
  assert.equal(expected.message, message);
  if ("statusCode" in expected) assert.equal(expected.statusCode, status);
  return answer.response.headers;
}

const invalid = "Request Inválida. Dados de entrada inválidos.";

function subscription(cpf: string, plan: string) {
  return {
    start_date: "2026-02-01",
    expiry_date: "",
    plan_id: plan,
    is_group_plan: true,
    group_size: "120",
    benefit_holder: "12ABC34501DE35",
    beneficiary: {
      primary_card: "4111111111111111",
      user_card: "5555555555554444",
      name: "Ana Conceição",
      cpf,
      birth_date: "1990-05-17",
      gender: "F" as const,
      email: "ana@exemplo.com.br",
      phone_number: "+5511987654321",
      address: {
        zipcode: "01001000",
        street: "Rua das Laranjeiras",
        number: "100",
        complement: "Apto 12",
        neighborhood: "Centro",
        city: "São Paulo",
        state: "SP" as const,
      },
    },
    partner_metadata: '{"canal":"app"}',
    partner_internal_id: "contrato-42",
  };
}

const rounds = [
  { base: "/v1", cpf: "52998224725", plan: "gerado-v1" },
  { base: "", cpf: "11144477735", plan: "gerado" },
];

for (const { base, cpf, plan } of rounds) {
  const client = clientAt(base);
  const userHash = digest(cpf).toString("base64"); // has + / = that the generated client must encode
  const path = { userhash: userHash };

  test(`subscriptions at ${base}/`, async () => {
    const item = subscription(cpf, plan);
    const rehearsed = good(await sdk.createSubscriptions({ client, body: [item], query: { dry_run: true } }));
    assert.deepEqual([rehearsed.result, rehearsed.total_created_items], ["success", 1]);
    refused(
      await sdk.subscriptionByPlanAndCpf({ client, path: { plan_id: plan, beneficiary_cpf: cpf } }),
      404,
      "Assinatura não encontrada",
    );

    const once = { "Idempotency-Key": `lote${base}` };
    const first = await sdk.createSubscriptions({ client, body: [item], headers: once });
    assert.equal(good(first).total_created_items, 1);
    const again = await sdk.createSubscriptions({ client, body: [item], headers: once });
    assert.deepEqual(good(again), good(first));
    assert.equal(again.response?.headers.get("idempotency-replayed"), "true");
    const other = await sdk.createSubscriptions({ client, body: [], headers: once });
    refused(other, 422, "Chave de idempotência já utilizada com outro conteúdo.");

    const twice = good(await sdk.createSubscriptions({ client, body: [item] }));
    assert.equal(twice.result, "failure");
    assert.deepEqual(twice.not_created_items[0]?.cpf, cpf);
    assert.match(twice.not_created_items[0]?.errors.join() ?? "", /assinatura já existe/);

    const page = good(await sdk.listSubscriptions({ client, query: { page: 1, page_size: 100 } }));
    assert.ok(page.data.some((s) => s.plan_id === plan && s.beneficiary?.cpf === cpf));
    assert.equal(page.pagination.total_items, page.data.length);
    const found = good(await sdk.subscriptionByPlanAndCpf({ client, path: { plan_id: plan, beneficiary_cpf: cpf } }));
    assert.equal(found.start_date, "2026-02-01T00:00:00.000Z");
    assert.equal(found.expiry_date, "");
    assert.equal(found.beneficiary?.address?.complement, "Apto 12");

    const at = { plan_id: plan, beneficiary_cpf: cpf };
    assert.equal(good(await sdk.changeSubscription({ client, path: at, body: { move: "suspend" } })).state, "suspended");
    const moves = { plan_id: plan, move: "resume" as const, cpfs: [cpf, "1"] };
    const moved = good(await sdk.moveSubscriptions({ client, body: moves }));
    assert.deepEqual([moved.result, moved.not_changed_items[0]?.item], ["partial_success", 1]);
    const items = [{ cpf, beneficiary: { address: { complement: "Apto 21" } } }, { cpf }];
    const edited = good(await sdk.editSubscriptions({ client, body: { plan_id: plan, items } }));
    assert.deepEqual([edited.result, edited.not_changed_items[0]?.item], ["partial_success", 1]);
    assert.equal(good(await sdk.subscriptionByPlanAndCpf({ client, path: at })).beneficiary?.address?.complement, "Apto 21");
  });

  test(`monitoring, findings and events at ${base}/`, async () => {
    const before = good(await sdk.listEvents({ client, query: { limit: 1000 } }));
    const value = `gerado${base.replace("/", "-")}@vazamento.test`;
    for (const _ of [1, 2]) {
      const done = good(await sdk.addMonitoredAsset({ client, body: { type: "email", value, userHash } }));
      assert.deepEqual(done, { status: 200, description: "Dados adicionados com sucesso." });
    }
    const [asset, ...more] = good(await sdk.listMonitoredAssets({ client, path }));
    assert.ok(asset);
    assert.deepEqual([asset.value, asset.status, more.length], [value, "comprometido", 0]);
    const [finding] = good(await sdk.listFindings({ client, path }));
    assert.ok(finding);
    assert.deepEqual([finding.assetId, finding.state, finding.breach.name], [asset.id, "open", "sandbox"]);

    const score = good(await sdk.riskScore({ client, path }));
    assert.ok(score.breachScore > 0 && score.recommendations.length > 0);
    const plan = good(await sdk.getPlan({ client, path: { id: finding.id, userhash: userHash }, query: { lang: "es" } }));
    assert.deepEqual([plan.language, plan.steps[0]?.id, plan.remaining], ["es", "change-password", plan.steps.length]);
    good(await sdk.markStep({ client, path: { id: finding.id, step: "change-password" }, body: { userHash, state: "done" } }));
    const left = good(await sdk.recheckFinding({ client, path: { id: finding.id }, body: { userHash } }));
    assert.deepEqual([left.state, left.status, left.remaining.length], ["open", "comprometido", plan.steps.length - 1]);

    const resolved = good(
      await sdk.resolveFinding({ client, path: { id: finding.id }, body: { userHash, reason: "password_changed" } }),
    );
    assert.equal(resolved.status, 200);
    assert.equal(good(await sdk.listMonitoredAssets({ client, path }))[0]?.status, "monitorado");

    const query = before.next === "" ? { limit: 1000 } : { limit: 1000, after: before.next };
    const { events } = good(await sdk.listEvents({ client, query }));
    const [first] = events;
    assert.ok(first);
    const told = good(await sdk.messageOfEvent({ client, path: { id: first.id }, query: { channel: "push", lang: "es" } }));
    assert.ok(told.subject && told.text.length > 0);
    assert.deepEqual(new Set(events.map((e) => e.body.type)), new Set(["monitoring.leak_detected", "monitoring.status_changed"]));

    const removed = good(await sdk.removeMonitoredAsset({ client, path: { id: asset.id, userhash: userHash } }));
    assert.equal(removed.description, "Dados removidos com sucesso.");
    refused(
      await sdk.removeMonitoredAsset({ client, path: { id: asset.id, userhash: userHash } }),
      404,
      "Ativo não encontrado.",
    );
    assert.deepEqual(good(await sdk.listMonitoredAssets({ client, path })), []);
  });

  test(`own set-up at ${base}/`, async () => {
    const { breaches } = good(await sdk.listBreaches({ client, query: { page: 1, page_size: 10 } }));
    assert.equal(breaches[0]?.name, "sandbox");
    assert.equal(good(await sdk.getBreach({ client, path: { name: "sandbox" } })).title, breaches[0]?.title);

    const receiver = { url: `${url}/gancho?token=1`, types: ["webhook.test" as const] };
    const hook = good(await sdk.createWebhook({ client, body: receiver }));
    const at = { id: hook.id };
    assert.equal(hook.url, `${url}/gancho`);
    assert.ok(good(await sdk.listWebhooks({ client })).some((one) => one.id === hook.id));
    assert.equal(good(await sdk.testWebhook({ client, path: at, body: { type: "webhook.test" } })).delivered, false);
    assert.equal(good(await sdk.getWebhook({ client, path: at })).health.failed, 1);
    assert.ok(good(await sdk.advanceSandboxClock({ client, body: { days: 1 } })));
    assert.equal(good(await sdk.setWebhookState({ client, path: at, body: { state: "paused" } })).state, "paused");
    assert.notEqual(good(await sdk.rotateWebhookSecret({ client, path: at, body: { overlapHours: 1 } })).secret, hook.secret);
    assert.equal(good(await sdk.replayWebhook({ client, path: at, body: { failed: true } })).deliveries, 1);
    good(await sdk.removeWebhook({ client, path: at }));

    const asked = good(await sdk.requestErasure({ client, body: { userHash: "pessoa-apagada", reason: "pedido" } }));
    assert.equal(good(await sdk.getErasure({ client, path: { id: asked.id } })).state, "pending");
    const open = good(await sdk.listErasures({ client, query: { page: 1, page_size: 10 } })).erasures;
    assert.deepEqual(open.map((one) => one.id), [asked.id]);
    good(await sdk.cancelErasure({ client, path: { id: asked.id } }));

    const narrow = good(await sdk.createKey({ client, body: { label: "leitura", scopes: ["cyber:read"] } }));
    refused(await sdk.listKeys({ client: clientAt(base, narrow.apiKey) }), 403, "Request Proibida.");
    const rolled = good(await sdk.rollKey({ client, path: { id: narrow.id }, body: { graceHours: 0 } }));
    good(await sdk.revokeKey({ client, path: { id: rolled.id } }));
    assert.ok(good(await sdk.listKeys({ client })).some((one) => one.id === rolled.id && one.state === "revoked"));
    const mail = { value: "muitos@exemplo.com.br", type: "email", userHash };
    assert.equal(good(await sdk.addAssets({ client, body: { items: [mail, 7] } })).result, "partial_success");
    assert.equal(good(await sdk.riskScores({ client, body: { userHashes: [userHash] } })).scores[0]?.userHash, userHash);
    const [added] = good(await sdk.listMonitoredAssets({ client, path })).slice(-1);
    good(await sdk.removeMonitoredAsset({ client, path: { id: added?.id ?? "", userhash: userHash } }));
    assert.equal(good(await sdk.getStatistics({ client, query: { days: 7 } })).days.length, 7);
    assert.ok(good(await sdk.getUsage({ client, query: { days: 7 } })).rate.perSecond > 0);
  });

  test(`extra keys at ${base}/`, async () => {
    const key = { type: "pix_key" as const, value: "00000000-0000-4000-8000-000000000002", userHash };
    good(await sdk.addExtraAsset({ client, body: key }));
    const [asset] = good(await sdk.listExtraAssets({ client, path }));
    assert.ok(asset);
    assert.deepEqual([asset.type, asset.value], [key.type, key.value]);
    good(await sdk.removeExtraAsset({ client, path: { id: asset.id, ...path } }));
    assert.deepEqual(good(await sdk.listExtraAssets({ client, path })), []);
  });

  test(`support, protection and password at ${base}/`, async () => {
    const [service] = good(await sdk.listSupportServices({ client })).services;
    assert.ok(service);
    const opened = good(
      await sdk.openSupportCase({
        client,
        body: {
          serviceId: service._id,
          userHash,
          appointments: [{ appointment: "2027-02-03T14:00:00.000Z" }],
          questions: [{ question: "Qual é o sistema do seu celular?", answer: "Android" }],
        },
      }),
    );
    assert.deepEqual([opened.task.status, opened.task.serviceId], ["Aberto", service._id]);

    const path = { id: opened.task.id };
    assert.equal(good(await sdk.getService({ client, path: { id: service._id } })).name, service.name);
    const message = { userHash, text: "Segue o aviso.", attachment: { name: "aviso.txt", text: "Clique aqui" } };
    good(await sdk.replyToCase({ client, path, body: message }));
    assert.ok(good(await sdk.listCases({ client, path: { userhash: userHash } })).some((one) => one.id === opened.task.id));
    assert.equal(good(await sdk.getCase({ client, path: { ...path, userhash: userHash } })).history.length, 3);
    const later = { userHash, appointments: [{ appointment: "2027-02-03T15:00:00.000Z" }] };
    refused(await sdk.rebookCase({ client, path, body: later }), 409, "Este serviço não atende com hora marcada.");
    refused(await sdk.rateCase({ client, path, body: { userHash, rating: 5 } }), 409, "Este caso ainda não foi resolvido.");
    good(await sdk.cancelCase({ client, path, body: { userHash, reason: "Já resolvi." } }));

    const device = { operatingSystem: "android" as const, type: "antivirus" as const, deviceName: "Celular da Ana", userHash };
    const issued = good(await sdk.issueProtectionKey({ client, body: device }));
    assert.deepEqual(good(await sdk.issueProtectionKey({ client, body: device })), issued);
    for (const asked of [{ headers: { "x-user-hash": userHash } }, { query: { userHash } }]) {
      const { protectedDevices } = good(await sdk.listProtectedDevices({ client, ...asked }));
      assert.deepEqual(protectedDevices.map((d) => d.eppKey), [issued.eppKey]);
    }

    const key = { key: issued.eppKey };
    good(await sdk.activateProtectionKey({ client, path: key, body: {} }));
    good(await sdk.heartbeatProtectionKey({ client, path: key, body: {} }));
    assert.equal(good(await sdk.getProtectionKey({ client, path: key })).state, "active");
    const next = { userHash, operatingSystem: "ios" as const, deviceName: "iPhone da Ana" };
    const moved = good(await sdk.moveProtectionKey({ client, path: key, body: next }));
    refused(await sdk.moveProtectionKey({ client, path: key, body: next }), 409, "Esta chave já foi encerrada.");
    good(await sdk.revokeProtectionKey({ client, path: { key: moved.keyId }, body: { userHash } }));

    const prefix = createHash("sha1").update("password").digest("hex").slice(0, 10);
    const checked = good(await sdk.checkPasswordPrefix({ client, body: { passwordHashPrefix: prefix } }));
    assert.ok(checked.exposed && checked.recommendations.length > 0);
    const credential = good(await sdk.checkCredentialPrefix({ client, body: { userHash, passwordHashPrefix: prefix } }));
    assert.ok(credential.recommendations.length > 0);
  });

  test(`advice, score and cover at ${base}/`, async () => {
    const asked = good(await sdk.listAdvice({ client, path })).find((a) => a.answerOptions?.length);
    assert.ok(asked?.answerOptions?.[0]);
    assert.equal(asked.userId, userHash);
    good(
      await sdk.answerValidationQuestion({
        client,
        path,
        body: { catalogId: asked.catalogId, value: asked.answerOptions[0].value },
      }),
    );
    const score = good(await sdk.riskScore({ client, path }));
    assert.ok(score.assessmentScore >= 0);
    assert.ok(good(await sdk.scoreHistory({ client, path })));
    assert.ok(good(await sdk.listCover({ client, path })));
    assert.match(good(await sdk.openPortalSession({ client, body: { userHash } })).url, /\/p\/enter\//);
    const { detalhesCobertura } = good(await sdk.insuranceCoverage({ client, path }));
    assert.ok(detalhesCobertura.condições && detalhesCobertura.limiteCobertura > 0);
  });

  test(`refusals at ${base}/`, async () => {
    const unchecked = { client, requestValidator: async () => {} }; // what the schema would not let out
    const bad = await sdk.addMonitoredAsset({ ...unchecked, body: { type: "email", value: "nobody", userHash } });
    assert.match(refused(bad, 400, invalid).get("x-error-detail") ?? "", /^value: /);
    refused(await sdk.openSupportCase({ client, body: { serviceId: "nenhum", userHash } }), 404, "Serviço não encontrado.");
    refused(await sdk.checkPasswordPrefix({ ...unchecked, body: { passwordHashPrefix: "curto" } }), 400, invalid);
    refused(await sdk.listSubscriptions({ ...unchecked, query: { page: 0 } }), 400, invalid);
    refused(await sdk.listEvents({ ...unchecked, query: { after: "nada" } }), 400, invalid);
    const stranger = clientAt(base, "vg_test_nobody");
    refused(await sdk.listSupportServices({ client: stranger }), 403, "Request Proibida.");
    refused(await sdk.listEvents({ client: stranger }), 403, "Request Proibida.");
    refused(await sdk.listSubscriptions({ client: stranger }), 401, "Não autorizado");
    refused(await sdk.createSubscriptions({ client: stranger, body: [] }), 401, "Não autorizado");
  });
}

test("an answer off the document is noticed", async () => {
  const lying = createClient({ baseUrl: url, auth: key, fetch: async () => Response.json({ services: [{ _id: 1 }] }) });
  await assert.rejects(sdk.listSupportServices({ client: lying }), { name: "ZodError" });
});

test("every operation of the document was called", () => {
  assert.deepEqual([...used].sort(), Object.keys(made).sort());
});
