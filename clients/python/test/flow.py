"""The story of a partner against the real service, through every operation; clients_test.go starts the service.

Each answer is held against the type of its method, so the types are true and not only there.
"""

import hashlib
import os
import re
import subprocess
import sys
import typing
import unittest
from pathlib import Path

import vigia_client
from conform import problems
from vigia_client import Reply, Vigia, VigiaError, codes, user_hash
from vigia_client.operations import Operations

URL, KEY, SALT = (os.environ[name] for name in ("VIGIA_URL", "VIGIA_KEY", "VIGIA_SALT"))
CPF, OTHER_CPF, PLAN = "52998224725", "11144477735", "plano-python"
PASSWORD = hashlib.sha1(b"password").hexdigest()[:10]

called = set()


def watched(name, method):
    answer_type = typing.get_type_hints(method)["return"]

    def call(self, *args, **kwargs):
        called.add(name)
        answer = method(self, *args, **kwargs)
        wrong = problems(answer, answer_type, name)
        if wrong:
            raise AssertionError("\n".join(wrong))
        return answer

    return call


public = {name: f for name, f in vars(Operations).items() if not name.startswith("_")}
Watched = type("Watched", (Vigia,), {name: watched(name, method) for name, method in public.items()})


def enrolment(cpf, **change):
    address = {"zipcode": "01001000", "street": "Rua das Laranjeiras", "number": "100", "neighborhood": "Centro"}
    beneficiary = {
        "primary_card": "4111111111111111",
        "user_card": "4111111111111111",
        "name": "Ana Conceição",
        "cpf": cpf,
        "birth_date": "1990-05-17",
        "gender": "F",
        "email": "ana@exemplo.com.br",
        "phone_number": "+5511987654321",
        "address": {**address, "city": "São Paulo", "state": "SP"},
    }
    whole = {"start_date": "2026-02-01", "expiry_date": "", "plan_id": PLAN, "is_group_plan": False}
    return {**whole, "beneficiary": {**beneficiary, **change}}


class Flow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vigia = Watched(URL, KEY)
        cls.person = user_hash(CPF, SALT)

    def refused(self, status, group, call, *args, **kwargs):
        with self.assertRaises(VigiaError) as caught:
            call(*args, **kwargs)
        self.assertEqual((caught.exception.status_code, caught.exception.group), (status, group))
        self.assertIn(caught.exception.code, vars(codes).values())
        self.assertTrue(caught.exception.message and caught.exception.request_id)
        return caught.exception

    def test_1_monitoring_and_findings(self):
        v, person = self.vigia, self.person
        v.add_monitored_asset({"type": "email", "value": "ana@vazamento.test", "userHash": person})
        [asset] = v.list_monitored_assets(person)
        self.assertEqual((asset["value"], asset["status"]), ("ana@vazamento.test", "comprometido"))
        [finding] = v.list_findings(person)
        self.assertEqual((finding["assetId"], finding["breach"]["name"]), (asset["id"], "sandbox"))
        plan = v.get_plan(finding["id"], person, lang="en")
        self.assertEqual((plan["language"], plan["steps"][0]["id"]), ("en", "change-password"))
        v.mark_step(finding["id"], "change-password", {"userHash": person, "state": "done"})
        left = v.recheck_finding(finding["id"], {"userHash": person})
        self.assertEqual((left["state"], len(left["remaining"])), ("open", len(plan["steps"]) - 1))
        v.resolve_finding(finding["id"], {"userHash": person, "reason": "password_changed"})
        self.assertEqual(v.list_monitored_assets(person)[0]["status"], "monitorado")

        v.add_extra_asset({"type": "pix_key", "value": "123e4567-e89b-42d3-a456-426614174000", "userHash": person})
        [extra] = v.list_extra_assets(person)
        v.remove_extra_asset(extra["id"], person)
        texts = ("ana@exemplo.com.br", "ana sem arroba")
        added = v.add_assets({"items": [{"type": "email", "value": text, "userHash": person} for text in texts]})
        self.assertEqual((added["result"], added["notAdded"][0]["item"]), ("partial_success", 1))
        v.remove_monitored_asset(asset["id"], person)
        self.refused(404, "not_found", v.remove_monitored_asset, asset["id"], person)
        error = self.refused(
            400, "invalid", v.add_monitored_asset, {"type": "email", "value": "nobody", "userHash": person}
        )
        self.assertTrue(error.detail.startswith("value: "))
        self.refused(403, "credentials", Vigia(URL, "vg_test_nobody").list_support_services)

    def test_1_a_list_under_an_idempotency_key_adds_all(self):
        live = Watched(URL, os.environ["VIGIA_LIVE_KEY"])
        items = [{"type": "email", "value": f"py{i}@exemplo.com.br", "userHash": f"py-{i}"} for i in range(1000)]
        for replayed in (False, True):
            reply = Reply()
            added = live.add_assets({"items": items}, idempotency_key="lista-python", reply=reply)
            self.assertEqual((added["result"], added["totalAdded"], reply.replayed), ("success", 1000, replayed))
        self.assertEqual(live.list_monitored_assets("py-999")[0]["value"], "py999@exemplo.com.br")

    def test_2_advice_score_and_passwords(self):
        v, person = self.vigia, self.person
        asked = next(advice for advice in v.list_advice(person) if advice.get("answerOptions"))
        answer = asked["answerOptions"][0]["value"]
        v.answer_validation_question(person, {"catalogId": asked["catalogId"], "value": answer})
        self.assertGreaterEqual(v.risk_score(person)["assessmentScore"], 0)
        self.assertEqual(len(v.score_history(person)), 1)
        self.assertEqual(v.risk_scores({"userHashes": [person]})["scores"][0]["userHash"], person)
        self.assertGreater(v.insurance_coverage(person)["detalhesCobertura"]["limiteCobertura"], 0)
        self.assertEqual(v.list_cover(person)["coberturas"][0]["origem"], "demonstracao")
        self.assertIn("/p/enter/", v.open_portal_session({"userHash": person})["url"])
        reply = Reply()
        self.assertTrue(v.check_password_prefix({"passwordHashPrefix": PASSWORD}, reply=reply)["exposed"])
        self.assertIn("sha1", reply.corpus)
        v.check_credential_prefix({"userHash": person, "passwordHashPrefix": PASSWORD})

    def test_3_cases(self):
        v, person = self.vigia, self.person
        service = v.list_support_services()["services"][0]
        self.assertEqual(v.get_service(service["_id"])["name"], service["name"])
        task = v.open_support_case({"serviceId": service["_id"], "userHash": person})["task"]
        attached = {"name": "aviso.txt", "text": "Clique aqui"}
        v.reply_to_case(task["id"], {"userHash": person, "text": "Segue.", "attachment": attached})
        self.assertEqual(v.list_cases(person)[0]["id"], task["id"])
        self.assertEqual(len(v.get_case(task["id"], person)["history"]), 3)
        later = {"userHash": person, "appointments": [{"appointment": "2027-02-03T15:00:00.000Z"}]}
        self.refused(409, "conflict", v.rebook_case, task["id"], later)
        self.refused(409, "conflict", v.rate_case, task["id"], {"userHash": person, "rating": 5})
        v.cancel_case(task["id"], {"userHash": person, "reason": "Já resolvi."})

    def test_4_protection(self):
        v, person = self.vigia, self.person
        device = {"operatingSystem": "android", "type": "antivirus", "deviceName": "Celular da Ana", "userHash": person}
        key = v.issue_protection_key(device)["eppKey"]
        [listed] = v.list_protected_devices(user_hash=person)["protectedDevices"]
        self.assertEqual(listed["eppKey"], key)
        v.activate_protection_key(key)
        v.heartbeat_protection_key(key)
        self.assertEqual(v.get_protection_key(key)["state"], "active")
        moved = v.move_protection_key(key, {"userHash": person, "operatingSystem": "ios", "deviceName": "iPhone"})
        v.revoke_protection_key(moved["keyId"], {"userHash": person})

    def test_5_subscriptions(self):
        v = self.vigia
        items = [enrolment(CPF), enrolment(OTHER_CPF, gender="X"), enrolment(OTHER_CPF)]
        self.assertEqual(v.create_subscriptions(items, dry_run=True)["total_created_items"], 2)
        reply = Reply()
        outcome = v.create_subscriptions(items, idempotency_key="lote-1", request_id="pedido-1", reply=reply)
        self.assertEqual((outcome["result"], reply.not_created_index), ("partial_success", [1]))
        self.assertEqual((reply.request_id, reply.replayed, reply.attempts), ("pedido-1", False, 1))
        self.assertEqual(v.create_subscriptions(items, idempotency_key="lote-1", reply=reply), outcome)
        self.assertTrue(reply.replayed)
        self.refused(422, "key_reused", v.create_subscriptions, [], idempotency_key="lote-1")
        people = [(CPF, enrolment(CPF))] + [(f"{n:011d}", enrolment(f"{n:011d}")) for n in range(1, 121)]
        v.create_subscriptions([item for _, item in people])
        walked = {subscription["beneficiary"]["cpf"] for subscription in v.subscriptions()}
        self.assertEqual(walked, {OTHER_CPF} | {cpf for cpf, _ in people})
        one = v.subscription_by_plan_and_cpf(PLAN, CPF)
        self.assertEqual((one["start_date"], one["expiry_date"]), ("2026-02-01T00:00:00.000Z", ""))
        self.assertEqual(v.change_subscription(PLAN, CPF, {"move": "suspend"})["state"], "suspended")
        moved = v.move_subscriptions({"plan_id": PLAN, "move": "resume", "cpfs": [CPF, "1"]})
        self.assertEqual((moved["result"], moved["not_changed_items"][0]["item"]), ("partial_success", 1))
        edits = [{"cpf": CPF, "beneficiary": {"email": "ana.nova@exemplo.com.br"}}, {"cpf": CPF}]
        edited = v.edit_subscriptions({"plan_id": PLAN, "items": edits})
        self.assertEqual((edited["result"], edited["not_changed_items"][0]["item"]), ("partial_success", 1))
        self.assertEqual(v.subscription_by_plan_and_cpf(PLAN, CPF)["beneficiary"]["email"], "ana.nova@exemplo.com.br")

    def test_6_own_set_up(self):
        v = self.vigia
        self.assertEqual([breach["name"] for breach in v.breaches()], ["sandbox"])
        self.assertTrue(v.get_breach("sandbox")["title"])
        hook = v.create_webhook({"url": URL + "/gancho", "types": ["webhook.test"]})
        self.assertIn(hook["id"], [one["id"] for one in v.list_webhooks()])
        self.assertFalse(v.test_webhook(hook["id"], {"type": "webhook.test"})["delivered"])
        self.assertEqual(v.get_webhook(hook["id"])["health"]["failed"], 1)
        self.assertEqual(v.set_webhook_state(hook["id"], {"state": "paused"})["state"], "paused")
        self.assertNotEqual(v.rotate_webhook_secret(hook["id"], {"overlapHours": 1})["secret"], hook["secret"])
        self.assertEqual(v.replay_webhook(hook["id"], {"failed": True})["deliveries"], 1)
        v.remove_webhook(hook["id"])
        made = v.create_key({"label": "leitura", "scopes": ["cyber:read"]})
        rolled = v.roll_key(made["id"], {"graceHours": 0})
        v.revoke_key(rolled["id"])
        states = {key["id"]: key["state"] for key in v.list_keys()}
        self.assertEqual(states[rolled["id"]], "revoked")
        self.assertGreater(v.get_usage(days=7)["rate"]["perSecond"], 0)
        self.assertEqual(len(v.get_statistics(days=7)["days"]), 7)

    def test_7_events(self):
        v = self.vigia
        pages = list(v.event_pages())
        events = [event for page in pages for event in page["events"]]
        self.assertIn("monitoring.leak_detected", {event["body"]["type"] for event in events})
        self.assertEqual(v.list_events(after=pages[-1]["next"])["events"], [])
        self.assertTrue(v.message_of_event(events[0]["id"], "sms", lang="pt-BR")["text"])

    def test_7_erasure(self):
        v = self.vigia
        erasure = v.request_erasure({"userHash": "pessoa-apagada", "reason": "pedido"})
        self.assertEqual(v.get_erasure(erasure["id"]), erasure)
        self.assertEqual(v.list_erasures(page=1, page_size=10)["erasures"], [erasure])
        v.cancel_erasure(erasure["id"])
        self.assertEqual(v.get_erasure(erasure["id"])["state"], "cancelled")

    def test_7_time_passes(self):
        self.refused(400, "invalid", self.vigia.advance_sandbox_clock, {"days": 0})
        self.vigia.advance_sandbox_clock({"days": 1})

    def test_8_the_first_call_of_the_readme_runs(self):
        readme = Path(os.environ["VIGIA_README"]).read_text("utf-8")
        [code] = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertRegex(ran.stdout, r"email ana@vazamento\.test comprometido")

    def test_9_every_operation_of_the_document_was_called(self):
        document = {re.sub(r"([A-Z])", r"_\1", name).lower() for name in os.environ["VIGIA_OPERATIONS"].split(",")}
        self.assertEqual(called, document)
        self.assertEqual(set(public), document)
        self.assertTrue(vigia_client.__file__.startswith(sys.prefix), "not the installed package")


if __name__ == "__main__":
    unittest.main()
