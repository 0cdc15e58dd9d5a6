import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium, firefox } from 'playwright-core';
import { pathOf } from './browsers.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A Chromium that resolves these names to this machine; with SIGNALBOX_BROWSER=firefox a Firefox. */
export function startBrowser(names, env = process.env) {
  if (process.env.SIGNALBOX_BROWSER === 'firefox') return startFirefox({ names });
  const rules = names.map((name) => `MAP ${name} 127.0.0.1`).join(',');
  // Root can run Chromium only without its sandbox.
  const args = [`--host-resolver-rules=${rules}`, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath: pathOf('chromium'), args, env });
}

/** A Firefox as people have it, driven over WebDriver BiDi. Downloads are kept in a folder, under their names. */
export function startFirefox({ names = [], downloadsPath } = {}) {
  return firefox.launch({
    channel: 'moz-firefox',
    executablePath: pathOf('firefox'),
    firefoxUserPrefs: { 'network.dns.localDomains': names.join(',') },
    ...(downloadsPath === undefined ? {} : { downloadsPath }),
  });
}

/** A server of the built package on memory. `ended` ends it, `killed` at once. */
export const startServer = (...options) => startServerOf(`${root}dist/cli.js`, '--store', 'memory', ...options);

/** A playground of the built package. */
export const startPlayground = (...options) => startCommand(`${root}dist/cli.js`, 'play', ...options);

/** A server of a built package, by its command line. */
export const startServerOf = (program, ...options) => startCommand(program, 'serve', ...options);

async function startCommand(program, verb, ...options) {
  const server = spawn(process.execPath, [program, verb, '--listen', '127.0.0.1:0', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(server, 'exit');
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const printed = async (pattern) => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done) throw new Error(`The server ended before it printed ${pattern}`);
      const found = pattern.exec(value)?.[1];
      if (found !== undefined) return found;
    }
  };
  const endedBy = async (signal) => {
    server.kill(signal);
    await exited;
  };
  const [ended, killed] = ['SIGTERM', 'SIGKILL'].map((signal) => () => endedBy(signal));
  return { url: await printed(/listening on (\S+)/), printed, ended, killed };
}

/** Nodes of this machine that run agents of the built package, with these names and amounts of memory in MiB; `call` is that of an operator. */
export async function startNodes(server, call, memory) {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-nodes-'));
  const agents = [];
  for (const [name, amount] of Object.entries(memory)) {
    const { SecretID } = await call('POST', '/v1/acl/token', { Name: name, Type: 'node' });
    const token = join(folder, `${name}.token`);
    await writeFile(token, SecretID, { mode: 0o600 });
    const size = ['--memory', String(amount), '--cpu', '4000', '--disk', '20000'];
    const options = ['agent', '--server', server.url, '--token-file', token, '--directory', join(folder, name), '--name', name, ...size, '--on-stop', 'kill'];
    agents.push(spawn(process.execPath, [`${root}dist/cli.js`, ...options], { stdio: ['ignore', 'ignore', 'inherit'] }));
  }
  const ids = await eventually(
    async () => {
      const nodes = (await call('GET', '/v1/nodes')).filter(({ Name, Status }) => Name in memory && Status === 'ready');
      return nodes.length === agents.length ? Object.fromEntries(nodes.map(({ Name, ID }) => [Name, ID])) : undefined;
    },
    () => 'the nodes',
  );
  const ended = async () => {
    const exits = agents.map((agent) => once(agent, 'exit'));
    for (const agent of agents) agent.kill('SIGTERM');
    await Promise.all(exits);
    await rm(folder, { recursive: true, force: true });
  };
  return { ids, ended };
}

/** Forwards connections to a server and records the bytes of both sides. */
export async function startTap(target) {
  const talks = [];
  const tap = createServer((client) => {
    const server = connect(Number(new URL(target()).port), '127.0.0.1');
    const talk = { asked: '', answered: '' };
    talks.push(talk);
    client.on('data', (bytes) => {
      talk.asked += bytes.toString('latin1');
    });
    server.on('data', (bytes) => {
      talk.answered += bytes.toString('latin1');
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ]) {
      one.pipe(other);
      one.on('error', () => other.destroy());
    }
  });
  await once(tap.listen(0, '127.0.0.1'), 'listening');
  return { port: tap.address().port, talks, ended: () => tap.close() };
}

/** An address that stays the same for whatever server is `at` it; while none is, connections are refused at once. */
export async function startAddress() {
  const sockets = new Set();
  let target;
  const address = createServer((client) => {
    if (target === undefined) return client.destroy();
    const server = connect(Number(new URL(target).port), '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ]) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one));
    }
  });
  await once(address.listen(0, '127.0.0.1'), 'listening');
  const at = (url) => {
    target = url;
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${address.address().port}`, at, ended: () => address.close() };
}

/** Serves these pages by their paths, one for each connection. */
export async function startPages(byPath) {
  const server = createHttpServer((request, response) => {
    const type = request.url.endsWith('.js') ? 'text/javascript' : 'text/html';
    response.writeHead(request.url in byPath ? 200 : 404, { 'Content-Type': type, Connection: 'close' });
    response.end(byPath[request.url]);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, ended: () => server.close() };
}

/** Repeats the call until it returns a value other than undefined, for at most ten seconds, or as long as it is given. */
export async function eventually(attempt, what, longest = 10_000) {
  const until = Date.now() + longest;
  for (;;) {
    const found = await attempt();
    if (found !== undefined) return found;
    if (Date.now() > until) throw new Error(`Timed out waiting for ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A job with one task, in the JSON form of the interface. */
export function jobNamed(ID, script, actions = []) {
  const task = {
    Name: 'main',
    Driver: 'raw_exec',
    Config: { command: '/bin/sh', args: ['-c', script] },
    Resources: { CPU: 20, MemoryMB: 16 },
    Actions: actions,
  };
  return { ID, Name: ID, Type: 'service', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [task] }] };
}

/** Forwards requests below a prefix that the server does not know, as a proxy that strips it. */
export async function startPrefixProxy(prefix, target) {
  const { request: ask } = await import('node:http');
  const proxy = createHttpServer((request, response) => {
    if (!request.url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end();
      return;
    }
    const headers = { ...request.headers };
    const forwarded = ask(target + request.url.slice(prefix.length), { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
    response.on('close', () => forwarded.destroy());
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${proxy.address().port}${prefix}`, ended: () => proxy.close() };
}

/** Collects what a page must never do: errors, violations of its policy, and requests to other origins. Call it before the page is opened. */
export async function watched(page) {
  const faults = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !isExpected(message)) faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error}`));
  await page.exposeFunction('noteViolation', (text) => faults.push(text));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      window.noteViolation(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    const own = page.url().startsWith('http') ? new URL(page.url()).origin : origin;
    if (protocol.startsWith('http') && origin !== own) faults.push(`request: ${request.url()}`);
  });
  return faults;
}

/** Signs the browser of a page in with a token, and opens a screen. */
export async function openSignedIn(page, url, token, path = '') {
  await page.context().request.post(`${url}/ui-session`, { data: { token } });
  await page.goto(`${url}/ui/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** A new page of a context, and what `watched` collects of it. */
export async function watchedPage(context) {
  const page = await context.newPage();
  return { page, faults: await watched(page) };
}

/** The browser itself reports answers that are errors and connections that fail; tests that cause them look at what the page shows. */
function isExpected(message) {
  return message.text().startsWith('Failed to load resource');
}

/** Registers a job over the interface. */
export async function register(url, job) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`${url}/v1/jobs`, { method: 'PUT', body: JSON.stringify({ Job: job }), headers });
  if (!answer.ok) throw new Error(await answer.text());
}

/** The first allocation of a job, once it is in one of these states. */
export function allocationOf(url, job, states = ['running', 'complete']) {
  return eventually(
    async () => {
      const answer = await fetch(`${url}/v1/job/${encodeURIComponent(job)}/allocations`);
      return (await answer.json()).find(({ ClientStatus }) => states.includes(ClientStatus))?.ID;
    },
    () => `an allocation of ${job}`,
  );
}

/** Calls the interface of a server with a token, that of an operator unless another is given; fails for a refusal. */
export function callsOf(server, operator) {
  return async (method, path, body, secret = operator) => {
    const answer = await fetch(server.url + path, {
      method,
      headers: { 'X-SVC-Token': secret, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

let axeSource;

/** What axe finds on a page. Only colours differ between schemes: all other rules are asked once. */
export async function violationsOf(page, rules) {
  axeSource ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  return page.evaluate(async (only) => {
    const options = { resultTypes: ['violations'], ...(only === undefined ? {} : { runOnly: only }) };
    const { violations } = await globalThis.axe.run(document, options);
    return violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.split('\n').slice(1, 2).join(' ').trim()}`));
  }, rules);
}

/** The editor of a source, when it is loaded. */
export const sourceField = (page) => page.getByLabel('Job specification').and(page.locator('.cm-content'));

/** Selects everything in the editor by its key and writes over it. */
export async function rewrite(page, text) {
  await sourceField(page).press('Control+a');
  // Neither driver has a way for all browsers that the editor takes as typing.
  if (page.context().browser().browserType().name() === 'chromium') return page.keyboard.insertText(text);
  await sourceField(page).evaluate((_, written) => document.execCommand('insertText', false, written), text);
}

/** All of the text in the editor, also what is not on the screen. */
export async function sourceText(page) {
  await sourceField(page).press('Control+a');
  return sourceField(page).evaluate((field) => {
    const copied = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
    field.dispatchEvent(copied);
    return copied.clipboardData.getData('text/plain');
  });
}

/** What is wrong with the focus: it is nowhere, has no outline, or lies below something else; undefined when it is visible. */
export const unseenFocus = (page) =>
  page.evaluate(() => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body) return 'nothing has the focus';
    const { outlineStyle, outlineWidth } = getComputedStyle(focused);
    const { left, top, right, bottom } = focused.getBoundingClientRect();
    const what = focused.outerHTML.slice(0, 200);
    if (outlineStyle === 'none' || Number.parseFloat(outlineWidth) < 2) return `no outline: ${what}`;
    // The middle of what the window shows of it.
    const [x, y] = [Math.max(0, left) + Math.min(innerWidth, right), Math.max(0, top) + Math.min(innerHeight, bottom)];
    const there = document.elementFromPoint(x / 2, y / 2);
    return focused.contains(there) ? undefined : `hidden: ${what}`;
  });

/** Uses a control by keyboard. Once it is `done`, the focus can be seen, on what `there` matches: its element and name. */
export async function usedByKeyboard(page, control, done, there) {
  await control.focus();
  await page.keyboard.press('Enter');
  await done();
  const focused = () =>
    page.evaluate(() => {
      const { activeElement } = document;
      return `${activeElement.localName} ${(activeElement.getAttribute('aria-label') ?? activeElement.textContent).trim()}`;
    });
  let problem;
  await eventually(
    async () => {
      problem = (await unseenFocus(page)) ?? (there.test(await focused()) ? undefined : `it is on ${await focused()}`);
      return problem === undefined ? true : undefined;
    },
    () => `the focus after ${control}: ${problem}`,
  );
}
