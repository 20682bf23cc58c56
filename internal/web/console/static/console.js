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

// Passkeys are bound to a name: at a number such as 127.0.0.1 no browser makes one, and the page says where it would.
for (const told of document.querySelectorAll("[data-by-name]")) {
	if (/^[\d.]+$|:/.test(window.location.hostname)) {
		told.hidden = false;
		told.querySelector("a").href = `//localhost:${window.location.port}${window.location.pathname}`;
		told.closest("form").querySelector("[type=submit]").disabled = true;
	}
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

// What opens takes the focus to its first field, so that what is typed next goes there; Escape closes it and gives the focus back.
for (const box of document.querySelectorAll("details.confirm, details.pop")) {
	box.querySelector("summary").addEventListener("click", (event) => {
		event.preventDefault(); // the event that tells of the opening comes later, and letters typed until then would be lost
		box.open = !box.open;
		if (box.open) {
			box.querySelector("input:not([type=hidden]), select, textarea, button, li a")?.focus();
		}
	});
}
const openBox = () => [...document.querySelectorAll("details.confirm[open], details.pop[open]")].pop();
const fieldsOf = (box) => [...box.querySelectorAll("input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea")];

// A click elsewhere closes what is open, unless something was typed into it: that is taken back by Escape alone.
document.addEventListener("click", (event) => {
	const box = openBox();
	const typed = box && fieldsOf(box).some((field) => !field.matches("select") && field.value !== field.defaultValue);
	if (box && !typed && !box.contains(event.target)) {
		box.open = false;
	}
});

document.addEventListener("keydown", (event) => {
	const box = openBox();
	if (event.key === "Escape" && box) {
		box.open = false;
		box.querySelector("summary").focus();
		return;
	}
	const typing = event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]");
	if (typing || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem(keysOff) !== null) {
		return;
	}
	if (box && fieldsOf(box).length > 0) {
		return; // a form is being filled in: a letter beside its field is no order
	}
	const key = event.key.toLowerCase();
	const keys = document.getElementById("keys");
	if (keys?.matches(":popover-open") && key.length === 1) {
		keys.hidePopover(); // who has read what a key does goes on with it
		if (key === "?") {
			event.preventDefault();
			return;
		}
	}
	const named = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
	if (box && key.length === 1 && key !== " " && !box.contains(named)) {
		box.open = false; // a menu takes no key from the page
	}
	if (named) {
		event.preventDefault();
		if (named.matches("input, textarea")) {
			named.focus();
		} else {
			named.click();
		}
	} else if (key === "j" || key === "k") {
		walk(key === "j" ? 1 : -1);
	} else if (key === "x") {
		document.activeElement.closest("tr")?.querySelector("[type=checkbox]")?.click();
	}
});

// A day with data-day is looked at before a form with a large file is sent: 31/02 is found here, and not after the upload.
for (const day of document.querySelectorAll("[data-day]")) {
	day.addEventListener("input", () => {
		const [, d, m, y] = day.value.trim().match(/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/) ?? [];
		const date = new Date(Date.UTC(y, m - 1, d));
		const wrong = /^\d{4}-\d\d-\d\d$/.test(day.value.trim()) ? "" : !y ? "Escreva o dia como 24/12/2026." : date.getUTCDate() !== Number(d) || date.getUTCMonth() !== m - 1 ? `${day.value} não existe no calendário.` : date > new Date() ? "Este dia ainda não chegou." : "";
		day.setCustomValidity(wrong);
	});
}

// A form with data-upload sends its fields alone first, so that nothing large is sent for a wrong title: the server then complains of
// the missing file and of what else is wrong. What it says is put beside the fields of this page, where the chosen file stays chosen.
const complain = (form, page) => {
	for (const old of form.querySelectorAll(".field-error")) {
		old.remove();
	}
	const said = [...new DOMParser().parseFromString(page, "text/html").querySelectorAll(".field-error")];
	const wrong = said.filter((span) => span.id !== "erro-file" || form.elements.file.files.length === 0).map((span) => {
		const field = [...form.elements].find((e) => "erro-" + e.name === span.id);
		field?.setAttribute("aria-describedby", span.id);
		field?.closest("label")?.append(span);
		return field;
	});
	for (const field of form.elements) {
		if (wrong.includes(field)) {
			field.setAttribute("aria-invalid", "true");
		} else {
			field.removeAttribute("aria-invalid");
		}
	}
	wrong[0]?.focus();
	return wrong.length > 0;
};
for (const form of document.querySelectorAll("[data-upload]")) {
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		const to = event.submitter?.hasAttribute("formaction") ? event.submitter.formAction : form.action;
		const fields = new FormData(form);
		fields.delete("file");
		const first = await fetch(to, { method: "POST", body: fields }).catch(() => null);
		if (first && complain(form, await first.text())) {
			return;
		}
		const bar = document.createElement("progress");
		bar.max = 100;
		bar.setAttribute("aria-label", "Envio do arquivo");
		const told = document.createElement("p");
		told.setAttribute("role", "status");
		form.append(bar, told);
		const sending = new XMLHttpRequest();
		sending.upload.addEventListener("progress", (now) => {
			bar.value = 100 * now.loaded / now.total;
			told.textContent = `${Math.floor(bar.value)}% enviados`;
		});
		sending.addEventListener("loadend", () => {
			bar.remove();
			told.textContent = sending.status ? "" : "O envio parou: a conexão caiu. O arquivo continua escolhido.";
			if (sending.status >= 200 && sending.status < 300 && sending.responseURL !== to) {
				window.location.assign(sending.responseURL);
			} else if (sending.status && !complain(form, sending.responseText)) { // a report, or a problem of no field
				document.querySelector("main").replaceWith(new DOMParser().parseFromString(sending.responseText, "text/html").querySelector("main"));
			}
		});
		sending.open("POST", to);
		sending.send(new FormData(form));
	});
}

// A colour with data-paint is shown at once in the preview of a person's page.
for (const colour of document.querySelectorAll("[data-paint]")) {
	const paint = () => document.querySelector(".phone").style.setProperty(colour.dataset.paint, colour.value);
	colour.addEventListener("input", paint);
	paint();
}

// The desk remembers its order, and a case leads to those before and after it there.
const queue = "vigia-queue";
const rows = [...document.querySelectorAll("a.open[href^='/cases/'], a.ticket[href^='/cases/']")].map((a) => a.getAttribute("href"));
if (rows.length > 0) {
	sessionStorage.setItem(queue, JSON.stringify(rows));
}
for (const turn of document.querySelectorAll("[data-turn]")) {
	const list = JSON.parse(sessionStorage.getItem(queue) ?? "[]");
	const at = list.indexOf(window.location.pathname);
	const lead = (link, to) => (to ? link.setAttribute("href", to) : link.remove());
	lead(turn.querySelector("[rel=prev]"), list[at - 1]);
	lead(turn.querySelector("[rel=next]"), list[at + 1]);
	for (const field of document.querySelectorAll("[data-next]")) {
		field.value = list[at + 1]?.split("/").pop() ?? ""; // the queue goes on behind the case that is resolved
	}
	turn.querySelector("span").textContent = `${at + 1} de ${list.length}`;
	turn.hidden = at < 0 || list.length < 2;
}

// What is revealed stands where one was reading: the page comes back at the same height.
const height = "vigia-height";
for (const form of document.querySelectorAll("form[action$='/reveal']")) {
	form.addEventListener("submit", () => {
		sessionStorage.setItem(height, JSON.stringify([window.location.pathname, window.scrollY]));
	});
}
const [readAt, scrolled] = JSON.parse(sessionStorage.getItem(height) ?? "[]");
if (readAt === window.location.pathname) {
	window.scrollTo(0, scrolled);
}
sessionStorage.removeItem(height);

// A check box with data-all marks all of a name.
for (const all of document.querySelectorAll("[data-all]")) {
	all.addEventListener("change", () => {
		for (const box of document.querySelectorAll(`[type=checkbox][name="${all.dataset.all}"]`)) {
			box.checked = all.checked;
		}
	});
}

// The box that answers a case: a ready answer goes in where one writes, and the server hears and tells who is writing.
for (const form of document.querySelectorAll("[data-writing]")) {
	const text = form.querySelector("textarea");
	for (const link of form.querySelectorAll("[data-insert]")) {
		link.addEventListener("click", (event) => {
			event.preventDefault();
			link.closest("details").open = false;
			text.setRangeText(link.dataset.insert, text.selectionStart, text.selectionEnd, "end");
			text.focus();
		});
	}
	const told = document.querySelector("[data-writer]");
	let typed = false;
	text.addEventListener("input", () => { typed = true; });
	setInterval(async () => {
		if (document.hidden) {
			return;
		}
		const body = new URLSearchParams({ typing: typed ? "1" : "0" });
		typed = false;
		const heard = await fetch(form.dataset.writing, { method: "POST", body }).catch(() => null);
		if (heard?.headers.get("content-type") === "application/json") {
			const { other } = await heard.json();
			told.textContent = other ? `${other} está escrevendo uma resposta.` : "";
		}
	}, 5000);
}

// In a low window the menu scrolls: the page that one is on is in sight.
document.querySelector(".menu-scroll [aria-current]")?.scrollIntoView({ block: "nearest" });
