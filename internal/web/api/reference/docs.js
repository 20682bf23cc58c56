// Comforts, none of which a page needs to be read: the chosen language is kept from page to page, a sandbox key is kept until
// the tab is closed, code is copied, pages are searched, and an operation can be tried. Requests go to this server and nowhere else; the page's policy sees to it.
'use strict';

for (const choice of document.querySelectorAll('.tabs input')) {
  if (choice.value === localStorage.getItem('language')) choice.checked = true;
  choice.addEventListener('change', () => localStorage.setItem('language', choice.value));
}

for (const code of document.querySelectorAll('pre > code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = document.body.dataset.copy;
  button.addEventListener('click', async () => {
    await copy(code);
    button.textContent = document.body.dataset.copied;
    setTimeout(() => { button.textContent = document.body.dataset.copy; }, 2000);
  });
  code.before(button);
}

// Without https there is no clipboard: the code is left marked, for the reader's own keys.
async function copy(code) {
  if (navigator.clipboard) return navigator.clipboard.writeText(code.textContent);
  getSelection().selectAllChildren(code);
}

const plain = (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase();

// The words travel behind the #, which is sent to no server.
for (const find of document.querySelectorAll('.find')) {
  find.hidden = false;
  find.addEventListener('submit', (event) => {
    event.preventDefault();
    location.href = find.dataset.page + '#' + encodeURIComponent(find.querySelector('input').value);
  });
}

const pages = document.querySelectorAll('.found li');
if (pages.length > 0) {
  const field = document.querySelector('.find input');
  const narrow = () => {
    const words = plain(field.value).split(/\s+/);
    for (const page of pages) {
      const text = plain(page.textContent + ' ' + page.dataset.words);
      page.hidden = !words.every((word) => text.includes(word));
    }
    document.querySelector('.none').hidden = [...pages].some((page) => !page.hidden);
  };
  const follow = () => { field.value = decodeURIComponent(location.hash.slice(1)); narrow(); };
  field.addEventListener('input', narrow);
  addEventListener('hashchange', follow);
  follow();
}

const form = document.querySelector('.try');
if (form) {
  const key = form.querySelector('#try-key');
  const warning = form.querySelector('.warning');
  key.value = sessionStorage.getItem('key') ?? '';
  key.addEventListener('input', () => {
    warning.hidden = !key.value.startsWith('vg_live_');
    if (key.value.startsWith('vg_test_')) sessionStorage.setItem('key', key.value);
    else sessionStorage.removeItem('key');
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form).then((text) => show(form, text), () => show(form, form.dataset.silence));
  });
}

async function send(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = { 'x-api-key': form.querySelector('#try-key').value };
  for (const field of form.querySelectorAll('[data-in]')) {
    if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.value !== '' && field.dataset.in === 'query') query.set(field.name, field.value);
    else if (field.value !== '') headers[field.name] = field.value;
  }
  const body = form.querySelector('#try-body')?.value;
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (form.dataset.keyed === 'true') headers['idempotency-key'] = `docs-${Date.now()}-${Math.random()}`;
  const address = new URL(form.dataset.root, document.baseURI).pathname.replace(/\/$/, '') + path + (query.size ? `?${query}` : '');
  const answer = await fetch(address, { method: form.dataset.method, headers, body, cache: 'no-store', credentials: 'omit' });
  const text = await answer.text();
  const lines = [`${answer.status} ${answer.statusText}`.trim()];
  for (const name of ['x-request-id', 'x-error-detail', 'retry-after', 'x-truncated']) {
    if (answer.headers.has(name)) lines.push(`${name}: ${answer.headers.get(name)}`);
  }
  return lines.join('\n') + '\n\n' + pretty(text);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function show(form, text) {
  const block = document.createElement('pre');
  block.textContent = text;
  form.querySelector('output').replaceChildren(block);
}
