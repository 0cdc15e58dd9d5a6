// Pages of other origins try to register jobs at a server on this machine with open access.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { eventually, jobNamed, startBrowser, startPages, startServer, startTap } from './support.mjs';

let server;
let tap;
let tapped;
let pages;
let browser;
let folder;

before(async () => {
  server = await startServer('--access', 'open', '--no-runner');
  pages = await startPages({ '/': '<body>' });
  tapped = server.url;
  tap = await startTap(() => tapped);
  browser = await startBrowser(['evil.example', 'rebound.example']);
  folder = await mkdtemp(join(tmpdir(), 'signalbox-browser-'));
});
after(async () => {
  await browser?.close();
  tap?.ended();
  pages?.ended();
  await server?.ended();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const bodyFor = (id) => JSON.stringify({ Job: jobNamed(id, 'exit 0') });
const registered = async () => (await (await fetch(`${server.url}/v1/jobs`)).json()).map(({ ID }) => ID);

/** Runs in the page: every way in which a page can send to another origin. `send` maps each way to its body. */
async function attack({ target, send }) {
  const quietly = (promise) => promise.then((answer) => answer.type, (error) => error.name);
  const post = (body, options) => quietly(fetch(`${target}/v1/jobs`, { method: 'POST', body, ...options }));
  const outcome = {
    text: await post(send.text, { headers: { 'Content-Type': 'text/plain' } }),
    'no-cors': await post(send['no-cors'], { mode: 'no-cors', credentials: 'include' }),
    json: await quietly(
      fetch(`${target}/v1/jobs`, { method: 'PUT', body: send.json, headers: { 'Content-Type': 'application/json' } }),
    ),
    read: await quietly(fetch(`${target}/v1/jobs`)),
  };
  navigator.sendBeacon(`${target}/v1/jobs`, send.beacon);
  // A form field is NAME=VALUE: the equals sign is within a string of the JSON.
  const form = document.createElement('form');
  Object.assign(form, { method: 'POST', enctype: 'text/plain', action: `${target}/v1/jobs`, target: 'answer' });
  const frame = document.createElement('iframe');
  frame.name = 'answer';
  const field = document.createElement('input');
  Object.assign(field, { name: `${send.form.slice(0, -1)},"rest":"`, value: '"}' });
  form.append(field);
  document.body.append(frame, form);
  form.submit();
  outcome.socket = await new Promise((resolve) => {
    const socket = new WebSocket(`${target.replace('http', 'ws')}/v1/job/any/action?action=a&task=main&allocID=x`);
    socket.onopen = () => resolve('open');
    socket.onerror = () => resolve('refused');
  });
  return outcome;
}

const simple = ['text', 'no-cors', 'beacon', 'form'];

/** Places of the page; each returns the frame in which the page runs. */
const places = {
  'another origin': async (page) => {
    await page.goto(pages.url.replace('127.0.0.1', 'evil.example'));
    return page.mainFrame();
  },
  'a sandboxed frame': async (page) => {
    await places['another origin'](page);
    await page.setContent('<iframe sandbox="allow-scripts allow-forms" srcdoc="<body>here"></iframe>');
    return eventually(
      () => page.frames().find((frame) => frame.parentFrame() !== null),
      () => 'the frame',
    );
  },
  'a file': async (page) => {
    const file = join(folder, 'page.html');
    await writeFile(file, '<body>');
    await page.goto(`file://${file}`);
    return page.mainFrame();
  },
};

for (const [place, open] of Object.entries(places)) {
  test(`a page of ${place} registers nothing`, async () => {
    tap.talks.length = 0;
    const page = await browser.newPage();
    const frame = await open(page);
    const name = place.replaceAll(' ', '-');
    const send = Object.fromEntries([...simple, 'json'].map((way) => [way, bodyFor(`${name}-${way}`)]));
    const outcome = await frame.evaluate(attack, { target: `http://127.0.0.1:${tap.port}`, send });
    assert.deepEqual(outcome, {
      text: 'TypeError',
      'no-cors': 'opaque',
      json: 'TypeError',
      read: 'TypeError',
      socket: 'refused',
    });
    // Requests without a preflight have reached the server, and every write was refused.
    const said = () => tap.talks.map(({ asked }) => asked).join('\n');
    const missing = () => simple.filter((way) => !said().includes(`"${name}-${way}"`));
    await eventually(
      () => (missing().length === 0 && tap.talks.every(isAnswered) ? true : undefined),
      () => `${missing()} in ${said()}`,
    );
    for (const { asked, answered } of tap.talks) {
      const methods = [...asked.matchAll(/([A-Z]+) \/v1\/\S+ HTTP/g)].map(([, method]) => method);
      const statuses = [...answered.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
      const isSocket = /^upgrade: websocket/im.test(asked);
      assert.deepEqual(
        statuses,
        methods.map((method) => (method === 'GET' && !isSocket ? '200' : '403')),
      );
    }
    assert.deepEqual(await registered(), []);
    await page.close();
  });
}

function isAnswered({ asked, answered }) {
  const count = (text, pattern) => [...text.matchAll(pattern)].length;
  return count(asked, /[A-Z]+ \/v1\/\S+ HTTP/g) === count(answered, /HTTP\/1\.1 \d+/g);
}

test('a page whose name was rebound to this machine registers and reads nothing', async () => {
  const page = await browser.newPage();
  // The page itself comes from the attacker, before the name is rebound.
  tapped = pages.url;
  await page.goto(`http://rebound.example:${tap.port}/`);
  tapped = server.url;
  const statuses = await page.evaluate(async (body) => {
    const headers = { 'Content-Type': 'application/json' };
    const write = await fetch('/v1/jobs', { method: 'PUT', body, headers });
    const read = await fetch('/v1/jobs');
    return [write.status, read.status];
  }, bodyFor('rebound'));
  assert.deepEqual(statuses, [421, 421]);
  assert.deepEqual(await registered(), []);
  await page.close();
});

test('the same requests of other programs register the jobs', async () => {
  const target = `${server.url}/v1/jobs`;
  const headers = { 'Content-Type': 'text/plain' };
  const form = `${bodyFor('by-form').slice(0, -1)},"rest":"="}\r\n`;
  for (const body of [bodyFor('by-text'), form]) {
    assert.equal((await fetch(target, { method: 'POST', body, headers })).status, 200);
  }
  assert.deepEqual(await registered(), ['by-form', 'by-text']);
});
