// The console's only script: it follows running work and copies secrets. Every page works without it.
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
