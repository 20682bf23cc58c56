// The console's only script: it follows running work, copies secrets, asks authenticators and lends keys to what is on the page. Every page works without it.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
	button.addEventListener("click", async () => {
		await navigator.clipboard.writeText(button.dataset.copy);
		button.textContent = "Copiado";
	});
}

// An element with data-events shows a job: the server sends {percent, text, done} until the job is over.
for (const box of document.querySelectorAll("[data-events]")) {
	const source = new EventSource(box.dataset.events);
	const bar = box.querySelector("progress");
	const text = box.querySelector("[data-text]");
	source.addEventListener("message", (event) => {
		const now = JSON.parse(event.data);
		if (bar && now.percent >= 0) {
			bar.value = now.percent;
		}
		if (text) {
			text.textContent = now.text;
		}
		if (now.done) {
			source.close();
			window.location.reload();
		}
	});
}

// A form with data-passkey asks the authenticator first, and is then sent with its answer.
for (const form of document.querySelectorAll("[data-passkey]")) {
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		const problem = form.querySelector("[role=alert]");
		problem.hidden = true;
		try {
			const begun = await fetch(form.dataset.begin, { method: "POST" });
			if (begun.redirected) { // the password is asked for first
				window.location.assign("/prove?next=" + encodeURIComponent(window.location.pathname));
				return;
			}
			const { options, token } = await begun.json();
			const create = form.dataset.passkey === "create";
			const made = create
				? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
				: await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
			form.elements.token.value = token;
			form.elements.response.value = JSON.stringify(made.toJSON());
			form.submit();
		} catch {
			problem.hidden = false;
		}
	});
}

// Keys, unless switched off on the account page: what is typed into a field is never taken for one.
const keysOff = "vigia-keys-off";
const keySwitch = document.querySelector("[data-keys-switch]");
if (keySwitch) {
	keySwitch.checked = localStorage.getItem(keysOff) === null;
	keySwitch.addEventListener("change", () => {
		if (keySwitch.checked) {
			localStorage.removeItem(keysOff);
		} else {
			localStorage.setItem(keysOff, "1");
		}
	});
}

// walk moves the focus along the lines of a list: j and k, as in a mailbox.
function walk(step) {
	const list = document.querySelector("[data-walk]");
	if (!list) {
		return;
	}
	const lines = [...list.querySelectorAll(list.dataset.walk)];
	const now = lines.indexOf(document.activeElement);
	lines[Math.min(Math.max(now + step, 0), lines.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
	const typing = event.target.closest("input, select, textarea, [contenteditable]");
	if (typing || event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem(keysOff) !== null) {
		return;
	}
	const key = event.key.toLowerCase();
	const named = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
	if (named) {
		event.preventDefault();
		if (named.matches("input")) {
			named.focus();
			named.select();
		} else {
			named.click();
		}
	} else if (key === "j" || key === "k") {
		walk(key === "j" ? 1 : -1);
	}
});

// In a low window the menu scrolls: the page that one is on is in sight.
document.querySelector(".menu-scroll [aria-current]")?.scrollIntoView({ block: "nearest" });
