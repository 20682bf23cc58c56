// What the reference shows for TypeScript is taken from the bodies of these functions, which server.test.ts runs against a real
// server: one function per operation, named after its operationId.
import { Vigia, VigiaError } from "../src/index.js";

/** The ids that the examples are about, set by the test. */
export const known = { userHash: "", assetId: "", extraId: "", serviceId: "", findingId: "", caseId: "", webhookId: "", keyId: "", address: "", eppKey: "", eventId: "", erasureId: "" };

export type Print = (...values: unknown[]) => void;

type Example = (vigia: Vigia, print: Print) => Promise<void>;

export const examples: Record<string, Example> = {
  async listSupportServices(vigia, print) {
    for (const service of (await vigia.listSupportServices()).services) {
      print(service._id, service.name);
    }
  },

  async addMonitoredAsset(vigia) {
    await vigia.addMonitoredAsset({ type: "email", value: "ana@vazamento.test", userHash: known.userHash });
  },

  async listMonitoredAssets(vigia, print) {
    for (const asset of await vigia.listMonitoredAssets(known.userHash)) {
      print(asset.id, asset.type, asset.value, asset.status);
    }
  },

  async listFindings(vigia, print) {
    for (const finding of await vigia.listFindings(known.userHash)) {
      print(finding.id, finding.breach.title, finding.exposed, finding.state);
    }
  },

  async riskScore(vigia, print) {
    const score = await vigia.riskScore(known.userHash);
    print(score.breachScore, score.assessmentScore, score.recommendations);
  },

  async getPlan(vigia, print) {
    const plan = await vigia.getPlan(known.findingId, known.userHash, { lang: "pt-BR" });
    for (const step of plan.steps) {
      print(step.id, step.what, step.why, step.link, step.minutes, step.dueAt, step.state);
    }
  },

  async markStep(vigia) {
    await vigia.markStep(known.findingId, "change-password", { userHash: known.userHash, state: "done" });
  },

  async recheckFinding(vigia, print) {
    const now = await vigia.recheckFinding(known.findingId, { userHash: known.userHash });
    print(now.state, now.reason, now.status, now.remaining);
  },

  async resolveFinding(vigia) {
    await vigia.resolveFinding(known.findingId, { userHash: known.userHash, reason: "password_changed" });
  },

  async removeMonitoredAsset(vigia) {
    await vigia.removeMonitoredAsset(known.assetId, known.userHash);
  },

  async addExtraAsset(vigia) {
    await vigia.addExtraAsset({ type: "pix_key", value: "123e4567-e89b-42d3-a456-426614174000", userHash: known.userHash });
  },

  async listExtraAssets(vigia, print) {
    for (const asset of await vigia.listExtraAssets(known.userHash)) {
      print(asset.id, asset.type, asset.value, asset.status);
    }
  },

  async removeExtraAsset(vigia) {
    await vigia.removeExtraAsset(known.extraId, known.userHash);
  },

  async openSupportCase(vigia, print) {
    const { task } = await vigia.openSupportCase(
      {
        serviceId: known.serviceId,
        userHash: known.userHash,
        appointments: [{ appointment: "2027-02-03T14:00:00.000Z" }],
        questions: [{ question: "Qual é o sistema do seu celular?", answer: "Android" }],
      },
      { idempotencyKey: "atendimento-4711" },
    );
    print(task.id, task.status);
  },

  async getService(vigia, print) {
    const service = await vigia.getService(known.serviceId);
    for (const question of service.questions) {
      print(question.id, question.question, question.required, question.options);
    }
    print(service.name, service.slots);
  },

  async listCases(vigia, print) {
    for (const one of await vigia.listCases(known.userHash)) {
      print(one.id, one.status, one.appointment);
    }
  },

  async replyToCase(vigia) {
    await vigia.replyToCase(known.caseId, {
      userHash: known.userHash,
      text: "Segue o cabeçalho da mensagem.",
      attachment: { name: "cabecalho.txt", text: "Received: from mx.exemplo.com.br" },
    });
  },

  async getCase(vigia, print) {
    for (const line of (await vigia.getCase(known.caseId, known.userHash)).history) {
      print(line.at, line.from, line.type, line.status, line.text);
    }
  },

  async rebookCase(vigia, print) {
    try {
      const moved = await vigia.rebookCase(known.caseId, {
        userHash: known.userHash,
        appointments: [{ appointment: "2027-02-03T14:00:00.000Z" }],
      });
      print(moved.appointment);
    } catch (error) {
      if (!(error instanceof VigiaError) || error.statusCode !== 409) throw error;
      print("nenhum destes horários está livre");
    }
  },

  async rateCase(vigia, print) {
    try {
      await vigia.rateCase(known.caseId, { userHash: known.userHash, rating: 5, comment: "Resolveram no mesmo dia." });
    } catch (error) {
      if (!(error instanceof VigiaError) || error.statusCode !== 409) throw error;
      print("ainda não foi resolvido");
    }
  },

  async cancelCase(vigia) {
    await vigia.cancelCase(known.caseId, { userHash: known.userHash, reason: "Já resolvi com o banco." });
  },

  async issueProtectionKey(vigia, print) {
    const key = await vigia.issueProtectionKey({ operatingSystem: "android", type: "antivirus", deviceName: "Celular da Ana", userHash: known.userHash });
    print(key.eppKey, key.validUntil);
  },

  async listProtectedDevices(vigia, print) {
    for (const device of (await vigia.listProtectedDevices({ userHash: known.userHash })).protectedDevices) {
      print(device.operatingSystem, device.deviceName, device.validUntil);
    }
  },

  async activateProtectionKey(vigia) {
    await vigia.activateProtectionKey(known.eppKey);
  },

  async heartbeatProtectionKey(vigia) {
    await vigia.heartbeatProtectionKey(known.eppKey);
  },

  async getProtectionKey(vigia, print) {
    const key = await vigia.getProtectionKey(known.eppKey);
    print(key.keyId, key.state, key.lastSeenAt, key.installLink);
  },

  async moveProtectionKey(vigia, print) {
    const moved = await vigia.moveProtectionKey(known.eppKey, {
      userHash: known.userHash,
      operatingSystem: "android",
      deviceName: "Celular novo da Ana",
    });
    print(moved.keyId, moved.eppKey, moved.validUntil);
  },

  async revokeProtectionKey(vigia) {
    await vigia.revokeProtectionKey(known.eppKey, { userHash: known.userHash });
  },

  async checkPasswordPrefix(vigia, print) {
    const answer = await vigia.checkPassword("password"); // only ten hex characters of its SHA-1 are sent
    print(answer.exposed, answer.recommendations);
  },

  async checkCredentialPrefix(vigia, print) {
    const answer = await vigia.checkCredential(known.userHash, "password"); // only ten hex characters of its SHA-1 are sent
    print(answer.exposed, answer.recommendations);
  },

  async listAdvice(vigia, print) {
    for (const advice of await vigia.listAdvice(known.userHash)) {
      print(advice.catalogId, advice.type, advice.title, advice.validationQuestion);
    }
  },

  async answerValidationQuestion(vigia) {
    for (const advice of await vigia.listAdvice(known.userHash)) {
      const option = advice.answerOptions?.[0];
      if (option) {
        await vigia.answerValidationQuestion(known.userHash, { catalogId: advice.catalogId, value: option.value });
        break;
      }
    }
  },

  async insuranceCoverage(vigia, print) {
    try {
      const { detalhesCobertura: cover } = await vigia.insuranceCoverage(known.userHash);
      print(cover.plano, cover.limiteCobertura, cover.condições);
    } catch (error) {
      if (!(error instanceof VigiaError && error.statusCode === 404)) throw error; // 404: no cover
    }
  },

  async listCover(vigia, print) {
    try {
      for (const cover of (await vigia.listCover(known.userHash)).coberturas) {
        print(cover.detalhesCobertura.plano, cover.sublimites, cover.carenciaDias, cover.vigenteDesde);
      }
    } catch (error) {
      if (!(error instanceof VigiaError && error.statusCode === 404)) throw error; // 404: no cover
    }
  },

  async scoreHistory(vigia, print) {
    for (const day of await vigia.scoreHistory(known.userHash)) {
      print(day.date, day.breachScore, day.assessmentScore);
    }
  },

  async openPortalSession(vigia, print) {
    const link = await vigia.openPortalSession({
      userHash: known.userHash,
      lang: "pt-BR",
      returnUrl: "https://app.banco.exemplo.com.br/conta",
    });
    print(link.url, link.expiresAt);
  },

  async createSubscriptions(vigia, print) {
    const outcome = await vigia.createSubscriptions(
      [
        {
          start_date: "2026-02-01",
          expiry_date: "",
          plan_id: "protecao-familia",
          is_group_plan: false,
          beneficiary: {
            primary_card: "4111111111111111",
            user_card: "4111111111111111",
            name: "Bruno Lima",
            cpf: "11144477735",
            birth_date: "1985-11-02",
            gender: "M",
            email: "bruno.lima@exemplo.com.br",
            phone_number: "5521987654321",
            address: {
              zipcode: "20040002",
              street: "Avenida Central",
              number: "S/N",
              neighborhood: "Centro",
              city: "Rio de Janeiro",
              state: "RJ",
            },
          },
        },
      ],
      { idempotencyKey: "lote-2026-02-01/1" },
    );
    for (const refused of outcome.not_created_items) {
      print(refused.cpf, refused.errors);
    }
  },

  async listSubscriptions(vigia, print) {
    for await (const subscription of vigia.subscriptions()) {
      print(subscription.plan_id, subscription.beneficiary.name);
    }
  },

  async subscriptionByPlanAndCpf(vigia, print) {
    const subscription = await vigia.subscriptionByPlanAndCpf("protecao-familia", "11144477735");
    print(subscription.start_date, subscription.beneficiary.name);
  },

  async listEvents(vigia, print) {
    let cursor = ""; // or the one you kept
    for await (const page of vigia.eventPages(cursor)) {
      for (const event of page.events) {
        print(event.id, event.body.type);
      }
      cursor = page.next; // keep it: the events up to here are handled
    }
  },

  async listBreaches(vigia, print) {
    for await (const breach of vigia.breaches()) {
      print(breach.name, breach.title, breach.date, breach.exposes);
    }
  },

  async getBreach(vigia, print) {
    const breach = await vigia.getBreach("sandbox");
    print(breach.title, breach.description);
  },

  async createWebhook(vigia, print) {
    const made = await vigia.createWebhook({ url: known.address, types: ["monitoring.leak_detected", "webhook.test"] });
    print(made.id, made.secret); // keep the secret: it is not shown again
  },

  async listWebhooks(vigia, print) {
    for (const webhook of await vigia.listWebhooks()) {
      print(webhook.id, webhook.url, webhook.state, webhook.reason);
    }
  },

  async testWebhook(vigia, print) {
    const attempt = await vigia.testWebhook(known.webhookId, { type: "monitoring.leak_detected" });
    print(attempt.delivered, attempt.status, attempt.failure);
  },

  async getWebhook(vigia, print) {
    const { health } = await vigia.getWebhook(known.webhookId);
    print(health.successRate, health.meanMs, health.backlog);
  },

  async setWebhookState(vigia) {
    await vigia.setWebhookState(known.webhookId, { state: "paused" });
    await vigia.setWebhookState(known.webhookId, { state: "enabled" });
  },

  async rotateWebhookSecret(vigia, print) {
    const made = await vigia.rotateWebhookSecret(known.webhookId, { overlapHours: 24 });
    print(made.secret); // the old one signs for a day more
  },

  async replayWebhook(vigia, print) {
    print((await vigia.replayWebhook(known.webhookId, { failed: true })).deliveries);
  },

  async removeWebhook(vigia) {
    await vigia.removeWebhook(known.webhookId);
  },

  async createKey(vigia, print) {
    const made = await vigia.createKey({ label: "relatorios", scopes: ["cyber:read"] });
    print(made.id, made.apiKey); // keep the key: it is not shown again
  },

  async listKeys(vigia, print) {
    for (const key of await vigia.listKeys()) {
      print(key.id, key.label, key.scopes, key.state);
    }
  },

  async rollKey(vigia, print) {
    const made = await vigia.rollKey(known.keyId, { graceHours: 24 });
    print(made.apiKey); // the old one works for a day more
  },

  async revokeKey(vigia) {
    await vigia.revokeKey(known.keyId);
  },

  async getUsage(vigia, print) {
    for (const budget of (await vigia.getUsage({ days: 7 })).budgets) {
      print(budget.name, budget.used, budget.left);
    }
  },

  async addAssets(vigia, print) {
    const added = await vigia.addAssets({ items: [
      { value: "ana@exemplo.com.br", type: "email", userHash: known.userHash },
      { value: "ana sem arroba", type: "email", userHash: known.userHash },
    ] });
    for (const refused of added.notAdded) {
      print(refused.item, refused.detail);
    }
  },

  async riskScores(vigia, print) {
    for (const score of (await vigia.riskScores({ userHashes: [known.userHash] })).scores) {
      print(score.userHash, score.breachScore, score.assessmentScore);
    }
  },

  async changeSubscription(vigia, print) {
    await vigia.changeSubscription("protecao-familia", "11144477735", { move: "suspend" });
    const now = await vigia.changeSubscription("protecao-familia", "11144477735", { partner_internal_id: "cliente-42" });
    print(now.subscription_id, now.state, now.partner_internal_id);
  },

  async moveSubscriptions(vigia, print) {
    const moved = await vigia.moveSubscriptions({
      plan_id: "protecao-familia",
      move: "resume",
      cpfs: ["11144477735", "52998224725"],
    });
    for (const refused of moved.not_changed_items) {
      print(refused.item, refused.errors);
    }
  },

  async editSubscriptions(vigia, print) {
    const edited = await vigia.editSubscriptions({
      plan_id: "protecao-familia",
      items: [{ cpf: "11144477735", beneficiary: { email: "ana.nova@exemplo.com.br" } }],
    });
    print(edited.result, edited.total_changed_items);
    for (const refused of edited.not_changed_items) {
      print(refused.item, refused.errors);
    }
  },

  async getStatistics(vigia, print) {
    for (const day of (await vigia.getStatistics({ days: 7 })).days) {
      print(day.day, day.findings, day.alerts, day.enrolments, day.cases);
    }
  },

  async requestErasure(vigia, print) {
    const erasure = await vigia.requestErasure({ userHash: known.userHash, reason: "Pedido do titular" });
    print(erasure.id, erasure.state, erasure.dueAt);
  },

  async listErasures(vigia, print) {
    for (const erasure of (await vigia.listErasures({ page: 1, pageSize: 100 })).erasures) {
      print(erasure.id, erasure.state, erasure.dueAt);
    }
  },

  async getErasure(vigia, print) {
    print((await vigia.getErasure(known.erasureId)).state);
  },

  async cancelErasure(vigia) {
    await vigia.cancelErasure(known.erasureId); // until it begins, 24 hours after the request
  },

  async advanceSandboxClock(vigia) {
    await vigia.advanceSandboxClock({ days: 31 }); // what became due has happened when it returns
  },

  async messageOfEvent(vigia, print) {
    print((await vigia.messageOfEvent(known.eventId, "sms", { lang: "pt-BR" })).text);
  },
};
