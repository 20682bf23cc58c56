// One scenario in TypeScript. Line by line it is the same as scenario.go and scenario.py.
import { userHash, Vigia } from "@vigia/client";

const vigia = new Vigia({ url: process.env["VIGIA_URL"]!, key: process.env["VIGIA_KEY"]! });
const person = userHash("529.982.247-25", process.env["VIGIA_SALT"]!);

await vigia.addMonitoredAsset({ type: "email", value: "ana@vazamento.test", userHash: person });
const assets = await vigia.listMonitoredAssets(person);
console.log(assets[0]!.type, assets[0]!.value, assets[0]!.status);
const findings = await vigia.listFindings(person);
const plan = await vigia.getPlan(findings[0]!.id, person, { lang: "en" });
await vigia.markStep(findings[0]!.id, plan.steps[0]!.id, { userHash: person, state: "done" });
console.log(findings[0]!.breach.name, plan.steps[0]!.id, plan.remaining);

const password = await vigia.checkPassword("password");
const prefix = await vigia.checkPasswordPrefix({ passwordHashPrefix: "5baa61e4c9" });
console.log(password.exposed, prefix.exposed);

const services = await vigia.listSupportServices();
const opened = await vigia.openSupportCase(
  {
    serviceId: services.services[0]!._id,
    userHash: person,
    appointments: [{ appointment: "2027-02-03T14:00:00.000Z" }],
    questions: [{ question: "Qual é o sistema do seu celular?", answer: "Android" }, { question: "Quantos anos ele tem?", answer: 3 }],
  },
  { idempotencyKey: "caso-" + person.slice(0, 8) },
);
console.log(opened.task.status, opened.task.serviceId);
const kept = await vigia.getCase(opened.task.id, person);
console.log(kept.appointments[0]!.appointment, kept.questions[0]!.answer, kept.questions[1]!.answer);
await vigia.cancelCase(opened.task.id, { userHash: person, reason: "Já resolvi." });

const key = await vigia.issueProtectionKey({ operatingSystem: "android", type: "antivirus", deviceName: "Celular", userHash: person });
await vigia.activateProtectionKey(key.eppKey, {});
const devices = await vigia.listProtectedDevices({ userHash: person });
console.log(devices.protectedDevices.length, devices.protectedDevices[0]!.deviceName);

const hook = await vigia.createWebhook({ url: process.env["VIGIA_RECEIVER"]!, types: ["case.rated"] });
const attempt = await vigia.testWebhook(hook.id, { type: "case.rated" });
console.log(attempt.delivered, attempt.status);
await vigia.removeWebhook(hook.id);

const types: Record<string, number> = {};
for await (const page of vigia.eventPages("")) {
  for (const event of page.events) {
    types[event.body.type] = (types[event.body.type] ?? 0) + 1;
  }
}
console.log(types["monitoring.leak_detected"], types["epp.key_activated"], types["case.status_changed"], types["webhook.test"]);

await vigia.removeMonitoredAsset(assets[0]!.id, person);
const left = await vigia.listMonitoredAssets(person);
console.log(left.length);
