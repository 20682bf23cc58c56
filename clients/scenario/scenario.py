# One scenario in Python. Line by line it is the same as scenario.go and scenario.ts.
import os
from collections import Counter

from vigia_client import Vigia, user_hash

vigia = Vigia(os.environ["VIGIA_URL"], os.environ["VIGIA_KEY"])
person = user_hash("529.982.247-25", os.environ["VIGIA_SALT"])

vigia.add_monitored_asset({"type": "email", "value": "ana@vazamento.test", "userHash": person})
assets = vigia.list_monitored_assets(person)
print(assets[0]["type"], assets[0]["value"], assets[0]["status"])
findings = vigia.list_findings(person)
plan = vigia.get_plan(findings[0]["id"], person, lang="en")
vigia.mark_step(findings[0]["id"], plan["steps"][0]["id"], {"userHash": person, "state": "done"})
print(findings[0]["breach"]["name"], plan["steps"][0]["id"], plan["remaining"])

password = vigia.check_password("password")
prefix = vigia.check_password_prefix({"passwordHashPrefix": "5baa61e4c9"})
print(str(password["exposed"]).lower(), str(prefix["exposed"]).lower())

services = vigia.list_support_services()
opened = vigia.open_support_case(
    {
        "serviceId": services["services"][0]["_id"],
        "userHash": person,
        "appointments": [{"appointment": "2027-02-03T14:00:00.000Z"}],
        "questions": [{"question": "Qual é o sistema do seu celular?", "answer": "Android"}, {"question": "Quantos anos ele tem?", "answer": 3}],
    },
    idempotency_key="caso-" + person[:8],
)
print(opened["task"]["status"], opened["task"]["serviceId"])
kept = vigia.get_case(opened["task"]["id"], person)
print(kept["appointments"][0]["appointment"], kept["questions"][0]["answer"], kept["questions"][1]["answer"])
vigia.cancel_case(opened["task"]["id"], {"userHash": person, "reason": "Já resolvi."})

key = vigia.issue_protection_key({"operatingSystem": "android", "type": "antivirus", "deviceName": "Celular", "userHash": person})
vigia.activate_protection_key(key["eppKey"], {})
devices = vigia.list_protected_devices(user_hash=person)
print(len(devices["protectedDevices"]), devices["protectedDevices"][0]["deviceName"])

hook = vigia.create_webhook({"url": os.environ["VIGIA_RECEIVER"], "types": ["case.rated"]})
attempt = vigia.test_webhook(hook["id"], {"type": "case.rated"})
print(str(attempt["delivered"]).lower(), attempt["status"])
vigia.remove_webhook(hook["id"])

types = Counter()
for page in vigia.event_pages(""):
    for event in page["events"]:
        types[event["body"]["type"]] += 1
print(types["monitoring.leak_detected"], types["epp.key_activated"], types["case.status_changed"], types["webhook.test"])

vigia.remove_monitored_asset(assets[0]["id"], person)
left = vigia.list_monitored_assets(person)
print(len(left))
