"""What needs no service: the userHash, webhooks, attempts, and the types themselves."""

import ast
import inspect
import json
import os
import threading
import typing
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import vigia_client
from conform import problems
from vigia_client import Reply, Vigia, VigiaError, WebhookError, codes, schemas, user_hash, verify_webhook
from vigia_client.operations import Operations
from vigia_client.send import not_created_index


class Stand(HTTPServer):
    """Gives one answer after the other; the last one stays."""

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.seen, self.waits = list(answers), [], []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def client(self, **options):
        return Vigia(f"http://127.0.0.1:{self.server_port}/v1/", "k", sleep=self.waits.append, **options)


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.command, self.path, self.headers, sent))
        answers = self.server.answers
        status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
        if status == 0:
            self.close_connection = True  # hangs up
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


DONE = (200, {"x-request-id": "r1"}, '{"status":200,"description":"Dados adicionados com sucesso."}')
ASSET = {"type": "email", "value": "a@exemplo.com.br", "userHash": "u"}


def refused(status, **headers):
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, '{"message":"x"}'


class Sending(unittest.TestCase):
    def test_attempts_share_their_key_and_wait_as_told(self):
        hung_up = (0, {}, "")
        with Stand(refused(503, retry_after="7"), refused(429, retry_after="2"), hung_up, DONE) as stand:
            reply = Reply()
            stand.client().add_monitored_asset(ASSET, reply=reply)
            keys = {headers["idempotency-key"] for _, _, headers, _ in stand.seen}
            self.assertEqual((len(stand.seen), len(keys), reply.attempts, reply.request_id), (4, 1, 4, "r1"))
            self.assertEqual(stand.waits[:2], [7, 2])
            self.assertLess(stand.waits[2], 1)
            self.assertEqual(stand.seen[0][:2], ("POST", "/v1/cyber/monitoring"))
            stand.client().add_monitored_asset(ASSET, idempotency_key="mine")
            self.assertEqual(stand.seen[4][2]["idempotency-key"], "mine")
            self.assertNotIn(None, keys)

    def test_what_cannot_pass_by_itself_is_not_repeated(self):
        redirect = (307, {"location": "http://127.0.0.1:1/"}, "")
        stranger = (200, {}, "<html>")
        for answer in [refused(s) for s in (400, 403, 404, 409, 413, 415, 422)] + [redirect, stranger]:
            with Stand(answer) as stand, self.assertRaises(VigiaError) as caught:
                stand.client().add_monitored_asset(ASSET)
            self.assertEqual((len(stand.seen), caught.exception.status_code), (1, answer[0]))
        with Stand(refused(409, retry_after="1"), DONE) as stand:
            stand.client().add_monitored_asset(ASSET)
            self.assertEqual(len(stand.seen), 2)

    def test_the_longest_wait_of_a_call_is_a_minute(self):
        for seconds, attempts in ((60, 4), (61, 1), (3180, 1)):
            with Stand(refused(429, retry_after=str(seconds))) as stand, self.assertRaises(VigiaError) as caught:
                stand.client().list_support_services()
            self.assertEqual((len(stand.seen), caught.exception.retry_after), (attempts, seconds))

    def test_a_restart_of_the_service_is_waited_out(self):
        for down in ((0, {}, ""), (503, {}, "<html>"), (502, {}, "<html>"), (504, {}, "<html>")):
            with Stand(down) as stand:  # for 29 seconds of the client's pauses
                def sleep(seconds, stand=stand):
                    stand.waits.append(seconds)
                    if sum(stand.waits) >= 29:
                        stand.answers[:] = [DONE]

                vigia = Vigia(f"http://127.0.0.1:{stand.server_port}", "k", sleep=sleep)
                vigia.add_monitored_asset(ASSET)
                self.assertLess(sum(stand.waits), 40)
            with Stand(down) as stand:  # for good
                with self.assertRaises(VigiaError):
                    stand.client().add_monitored_asset(ASSET)
                self.assertGreaterEqual(sum(stand.waits), 29)
                self.assertLess(sum(stand.waits), 45)
            with Stand(down) as stand, self.assertRaises(VigiaError):
                stand.client(attempts=2).add_monitored_asset(ASSET)
            self.assertEqual(len(stand.seen), 2)
        # What did not reach the service does not use up the attempts for what it refuses.
        with Stand(*[(0, {}, "")] * 6, *[refused(429, retry_after="1")] * 3, DONE) as stand:
            stand.client().add_monitored_asset(ASSET)
            self.assertEqual(len(stand.seen), 10)

    def test_a_reply_tells_what_waits(self):
        told = {"x-first-looks-waiting": "3", "x-first-looks-until": "2026-01-31T03:00:00.000Z"}
        with Stand((200, told, "[]"), (200, {}, "[]")) as stand:
            reply, vigia = Reply(), stand.client()
            vigia.list_monitored_assets("u", reply=reply)
            self.assertEqual((reply.first_looks_waiting, reply.first_looks_until), (3, "2026-01-31T03:00:00.000Z"))
            vigia.list_monitored_assets("u", reply=reply)
            self.assertEqual((reply.first_looks_waiting, reply.first_looks_until), (0, ""))

    def test_errors_say_what_and_where(self):
        told = {"x_error_code": "asset.invalid", "x_error_detail": "value: an address", "x_request_id": "r9"}
        with Stand(refused(400, **told)) as stand:
            with self.assertRaises(VigiaError) as caught:
                stand.client().add_monitored_asset(ASSET)
            error = caught.exception
            self.assertEqual((error.code, error.group), (codes.ASSET_INVALID, "invalid"))
            self.assertEqual((error.detail, error.request_id), ("value: an address", "r9"))
            self.assertEqual(str(error), "400 x, asset.invalid (value: an address) [request r9]")
        with Stand((503, {}, "<html>")) as stand:
            with self.assertRaises(VigiaError) as caught:
                stand.client(attempts=3).list_support_services()
            self.assertEqual((caught.exception.code, caught.exception.group), ("", "unavailable"))
            self.assertEqual(len(stand.seen), 3)
        with self.assertRaises(VigiaError) as caught:
            Vigia("http://127.0.0.1:1", "k", sleep=lambda _: None).subscription_by_plan_and_cpf("p", "52998224725")
        self.assertEqual(caught.exception.group, "no_answer")
        self.assertNotIn("52998224725", str(caught.exception))

    def test_values_are_escaped_and_secrets_have_no_key(self):
        with Stand((200, {"x-truncated": "true"}, '{"protectedDevices":[]}')) as stand:
            reply, vigia = Reply(), stand.client()
            vigia.list_protected_devices(user_hash="hash", reply=reply)
            vigia.list_monitored_assets("a/b+c=?")
            vigia.revoke_key("k 1", self_=True)
            vigia.list_events(after="a+b c", limit=5)
            vigia.check_password("password")
            vigia.activate_protection_key("ek_1")
            paths = [path for _, path, _, _ in stand.seen]
            self.assertEqual(paths[0], "/v1/cyber/epp")
            self.assertEqual((stand.seen[0][2]["x-user-hash"], reply.truncated), ("hash", True))
            self.assertEqual(paths[1], "/v1/cyber/monitoring/a%2Fb%2Bc%3D%3F")
            self.assertEqual(paths[2], "/v1/keys/k%201?self=true")
            self.assertEqual(paths[3], "/v1/events?after=a%2Bb%20c&limit=5")
            self.assertIsNone(stand.seen[4][2]["idempotency-key"])
            self.assertEqual(stand.seen[5][3], b"{}")

    def test_a_client_needs_an_address_and_a_key(self):
        for url, key in [("vigia.example", "k"), ("https://vigia.example?x", "k"), ("https://vigia.example", "")]:
            self.assertRaises(ValueError, Vigia, url, key)
        self.assertRaises(ValueError, Vigia, "https://vigia.example", "k\n")
        self.assertRaises(ValueError, Vigia, "https://vigia.example", "k", attempts=0)

    def test_places_of_refused_items(self):
        forms = {"": [], "3,17,18": [3, 17, 18], "3,17-19": [3, 17, 18, 19], ":kAE=:": [0, 3, 15], "?": []}
        self.assertEqual({header: not_created_index(header) for header in forms}, forms)


class Person(unittest.TestCase):
    def test_user_hash_gives_the_vectors_of_the_contract(self):
        vectors = [
            ("529.982.247-25", "sal-do-parceiro-1", "f3a6d2a6bf5aab2f"),
            ("11144477735", "Zq8vN2kXw5", "9b9c62fb3f35c047"),
            (" 12345678909 ", "açúcar e sal", "25196ab6944c3ffd"),
        ]
        for cpf, salt, start in vectors:
            self.assertEqual((user_hash(cpf, salt)[:16], len(user_hash(cpf, salt))), (start, 128))


class Webhooks(unittest.TestCase):
    def reason(self, vector, **change):
        headers = {name: vector[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
        headers.update(change.get("headers", {}))
        now = int(vector["webhook-timestamp"]) + change.get("late", 0)
        try:
            verify_webhook(change.get("keys", vector["verifyWith"]), headers, vector["body"].encode(), now)
        except WebhookError as error:
            return error.reason
        return "accepted"

    def test_vectors(self):
        vectors = json.loads(Path(os.environ["VIGIA_VECTORS"]).read_text("utf-8"))
        tried = 0
        wanted = {"valid": ("accepted", "body"), "invalid": ("signature",), "strict": ("headers",)}
        for kind, reasons in wanted.items():
            for vector in vectors[kind]:
                if all(key.startswith("whsec_") for key in vector["verifyWith"]):
                    self.assertIn(self.reason(vector), reasons, vector["name"])
                    tried += 1
        self.assertGreater(tried, 15)

    def test_reasons(self):
        vectors = json.loads(Path(os.environ["VIGIA_VECTORS"]).read_text("utf-8"))
        good = vectors["valid"][0]
        upper = {name.title(): good[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
        event = verify_webhook(good["verifyWith"], upper, good["body"].encode(), int(good["webhook-timestamp"]))
        self.assertEqual((event.id, event.body["type"]), ("evt_01", "webhook.test"))
        for want, change in [
            ("accepted", {"late": 300}),
            ("timestamp", {"late": 301}),
            ("timestamp", {"late": -301}),
            ("key", {"keys": []}),
            ("key", {"keys": ["whsec_AAEC"]}),
            ("key", {"keys": ["whpk_Kay64UG8yvCyLhqU000LxzYeUm0L/hLIl5S8kyKWbdc="]}),
            ("headers", {"headers": {"webhook-id": ""}}),
            ("headers", {"headers": {"webhook-timestamp": "01767225600"}}),
            ("headers", {"headers": {"webhook-signature": "v1,x " * 33}}),
            ("headers", {"headers": {"Webhook-Id": "evt_02"}}),
            ("signature", {"headers": {"webhook-id": "evt_02"}}),
        ]:
            self.assertEqual(self.reason(good, **change), want, change)


class Types(unittest.TestCase):
    def test_every_annotation_leads_somewhere(self):
        methods = [f for name, f in vars(Operations).items() if not name.startswith("_")]
        self.assertGreaterEqual(len(methods), 61)
        for method in methods:
            self.assertIn("return", typing.get_type_hints(method))
            self.assertTrue(inspect.getdoc(method))
        shapes = [kind for kind in vars(schemas).values() if typing.is_typeddict(kind)]
        self.assertGreater(len(shapes), 80)
        for shape in shapes:
            typing.get_type_hints(shape)

    def test_python_3_9_can_read_it(self):
        folder = Path(vigia_client.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        for path in folder.glob("*.py"):
            ast.parse(path.read_text("utf-8"), feature_version=(3, 9))

    def test_what_is_off_its_type_is_noticed(self):
        good = {"id": "1", "type": "email", "value": "x", "status": "alerta"}
        self.assertEqual(problems(good, schemas.MonitoredAsset), [])
        for change in ({"status": "lost"}, {"value": 7}, {"more": 1}):
            self.assertEqual(len(problems({**good, **change}, schemas.MonitoredAsset)), 1)
        self.assertEqual(len(problems({"id": "1"}, schemas.MonitoredAsset)), 3)


if __name__ == "__main__":
    unittest.main()
