// Notifications in the web page: configurations, deliveries, bulk redeliveries, explanations, and the portal in a frame of a host.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { createEngine, hostPrincipal, orThrow } from '../../dist/index.js';
import { createHttpHandler, nodeListener } from '../../dist/http-server.js';
import { memoryStorage } from '../../dist/memory.js';
import { randomIds, systemClock } from '../../dist/node.js';
import { undiciDelivery } from '../../dist/undici.js';
import { eventually, startBrowser, unseenFocus, usedByKeyboard } from './support.mjs';

let service;
let receiver;
let host;
let browser;
let context;
let page;
const faults = [];

const hostile = '<img src=x onerror="window.hacked=1"> \u202E hook';

before(async () => {
  receiver = await startReceiver();
  host = await startHost();
  service = await startService([host.url]);
  browser = await startBrowser(['host.example', 'evil.example']);
  context = await browser.newContext();
  page = await context.newPage();
  watch(page);
  await page.goto(`${service.url}/ui/notify`);
  await page.getByLabel('Token').fill(service.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Notify' }).waitFor();
});
after(async () => {
  await browser?.close();
  host?.ended();
  receiver?.ended();
  await service?.ended();
});

/** Errors of scripts and violations of the policy; an answer of 4xx is part of the tests. */
function watch(watched) {
  watched.on('pageerror', (error) => faults.push(error.message));
  watched.on('console', (message) => {
    if (message.type() === 'error' && !/the server responded with a status of 4\d\d/.test(message.text()))
      faults.push(message.text());
  });
}

/** An engine with two workspaces, whose page the host may frame. */
async function startService(frameAncestors) {
  const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8'] } });
  const attempts = { retry: { generic: [30_000] }, jitter: 0, recordWithin: 0, breaker: { failures: 100 } };
  const settings = { notifications: { delivery: attempts } };
  const engine = createEngine({ storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery }, settings);
  engine.start();
  const box = engine.as(hostPrincipal);
  for (const id of ['ws-one', 'ws-two']) await orThrow(box.workspaces.put(id, { name: `Team ${id}`, organization: 'acme' }));
  const { value } = await orThrow(box.tokens.create({ name: 'operator', type: 'management' }));
  const handler = createHttpHandler(engine, { access: 'token', page: { frameAncestors } });
  const server = createServer(nodeListener(handler));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const ended = async () => {
    server.closeAllConnections();
    server.close();
    await engine.stop();
    await delivery.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, token: value.SecretID, box, ended };
}

/** Answers each path as it is set, 200 otherwise, and not before `held`; keeps the runs of the notifications that it accepted. */
async function startReceiver() {
  const answers = new Map();
  const got = [];
  const server = createServer((request, response) => {
    let sent = '';
    request.on('data', (bytes) => {
      sent += bytes;
    });
    request.on('end', async () => {
      const { status = 200, type = 'text/plain', body = 'ok', held } = answers.get(request.url) ?? {};
      await held;
      const { run_id: run } = JSON.parse(sent);
      // A verification has no run.
      if (status < 300 && run !== null) got.push({ path: request.url, run });
      response.writeHead(status, { 'Content-Type': type });
      response.end(body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, answers, got, ended: () => server.close() };
}

/** A page of the host that frames the portal and hands over tokens: those that `mint` answers. */
async function startHost() {
  let mint = () => undefined;
  let frame = '';
  const server = createServer(async (request, response) => {
    if (request.url === '/token') {
      const token = await mint();
      response.writeHead(token === undefined ? 204 : 200);
      return response.end(token);
    }
    response.writeHead(200, { 'Content-Type': 'text/html', Connection: 'close' });
    response.end(`<iframe src="${frame}" width="1000" height="700"></iframe><script>
      window.asked = [];
      addEventListener('message', async ({ origin, data, source }) => {
        asked.push(data.type);
        const answer = await fetch('/token');
        if (answer.status !== 200) return;
        const theme = { surface: '#102030', text: '#f0f0ff', accent: 'url(//evil)' };
        source.postMessage({ type: 'signalbox-token', token: await answer.text(), theme }, origin);
      });</script>`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  const show = (address, minted) => {
    frame = address;
    mint = minted;
  };
  return { url: `http://host.example:${port}`, port, show, ended: () => server.close() };
}

const declare = (workspace, path, more = {}) =>
  orThrow(
    service.box.notifications.declare(workspace, {
      name: `Hook ${path}`,
      destinationType: 'generic',
      url: receiver.url + path,
      triggers: ['run:errored'],
      token: 'signing-secret',
      enabled: true,
      ...more,
    }),
  );
let runs = 0;
/** Sends an event of a run; returns the ID of the run. */
async function send(workspace) {
  const run_id = `run-${++runs}`;
  await orThrow(service.box.notifications.send(workspace, { trigger: 'run:errored', run_id, run_message: hostile }));
  return run_id;
}
const deliveriesOf = async (id) => (await orThrow(service.box.deliveries.list(id, { pageSize: 100 }))).items;
const whenAll = (id, outcome, count) =>
  eventually(
    async () => ((await deliveriesOf(id)).filter((each) => each.outcome === outcome).length >= count ? true : undefined),
    () => `${count} ${outcome}`,
  );
const open = (path) => page.goto(`${service.url}/ui/notify/${path}`);
const button = (name) => page.getByRole('button', { name, exact: true });
const field = (name, within = page) => within.getByRole('textbox', { name, exact: true });

/** Presses Tab until an element has the focus, which is visible all the way. */
async function tabTo(element) {
  const isThere = () => element.evaluate((node) => node === document.activeElement);
  for (let presses = 0; presses < 200 && !(await isThere()); presses++) {
    await page.keyboard.press('Tab');
    assert.equal(await unseenFocus(page), undefined);
  }
  assert.ok(await isThere(), `Tab does not lead to ${element}`);
  assert.equal(await unseenFocus(page), undefined);
}
const seen = (text) => page.getByText(text).first().waitFor({ timeout: 2000 });
const health = (word) => page.locator('.title .mark', { hasText: word }).waitFor({ timeout: 2000 });

test('enabling a dead address saves nothing, and shows answer, class and setting', async () => {
  receiver.answers.set('/dead', { status: 503, body: `busy ${hostile}` });
  await open('ws-one/new');
  await field('Name').fill(hostile);
  await field('URL').fill(`${receiver.url}/dead`);
  await button('Create').click();
  await seen('Nothing was saved.');
  await seen('server_error');
  await page.getByText('Its answer: 503').click();
  await seen('busy <img src=x onerror="window.hacked=1"> ‹U+202E› hook');

  await field('URL').fill('http://10.0.0.1/hook');
  await button('Create').click();
  const problem = page.locator('#problem-url');
  await problem.waitFor();
  assert.match(await problem.innerText(), /allow\.cidrs/);
  assert.equal(await field('URL').getAttribute('aria-invalid'), 'true');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'field-url');
  assert.deepEqual((await orThrow(service.box.notifications.list('ws-one'))).items, []);

  // What was written is still there, and is saved once the address works.
  receiver.answers.delete('/dead');
  await field('URL').fill(`${receiver.url}/dead`);
  await button('Create').click();
  await page.getByRole('heading', { name: /hook$/ }).waitFor();
  const [saved] = (await orThrow(service.box.notifications.list('ws-one'))).items;
  assert.equal(saved.name, hostile);
  assert.equal(saved.enabled, true);
  await orThrow(service.box.notifications.delete(saved.id));
});

test('verify, pause, resume, disable, enable and test show their result and the health within two seconds', async () => {
  const { id } = await declare('ws-one', '/acts');
  await open(`ws-one/c/${id}`);
  await health('Working');
  await button('Verify').click();
  await seen('The destination has accepted the verification request.');
  await button('Pause').click();
  await health('Paused');
  await button('Resume').click();
  await health('Working');
  await button('Disable…').click();
  await button('Disable').click();
  await health('Off');
  receiver.answers.set('/acts', { status: 500, body: 'broken' });
  await button('Enable').click();
  await seen('It was not enabled. Nothing was changed.');
  await seen('failed with a server error');
  receiver.answers.delete('/acts');
  await button('Enable').click();
  await health('Working');
  await button('Test').click();
  await page.getByRole('heading', { name: 'Delivery of run:errored' }).waitFor();
  await page.locator('.title .mark', { hasText: 'Delivered' }).waitFor({ timeout: 2000 });
  await seen('sample');
  await orThrow(service.box.notifications.delete(id));
});

test('a delivery shows attempts, request, answer as text and its next try; redelivering while it waits makes one manual try', async () => {
  const { id } = await declare('ws-one', '/html', { delivery: { headers: { 'x-key': 'header-secret' } } });
  receiver.answers.set('/html', { status: 503, type: 'text/html', body: `<p>${hostile}</p>${'x'.repeat(3000)}` });
  await send('ws-one');
  const delivery = await eventually(
    async () => (await deliveriesOf(id)).find(({ attemptCount }) => attemptCount === 1),
    () => 'the first try',
  );
  await open(`ws-one/deliveries/${delivery.id}`);
  await seen(/Next try in 2\d s, at .*the last try failed/);
  const answer = page.getByRole('region', { name: 'Answer' });
  await answer.getByText('<p><img src=x onerror="window.hacked=1"> ‹U+202E› hook</p>').waitFor();
  await answer.getByText(/Body of type text\/html, shown as text/).waitFor();
  const request = page.getByRole('region', { name: 'Request' });
  await request.getByText('headers').click();
  const shown = await request.innerText();
  assert.match(shown, /x-svc-notification-signature\s+●●●/);
  assert.match(shown, /x-key\s+●●●/);
  await request.getByText('Verify the signature').click();
  await request.getByText("import { verifySignature } from 'signalbox/receiver'").waitFor();
  assert.doesNotMatch(await page.content(), /header-secret|signing-secret/);
  const countdown = () => page.getByText(/Next try in/).innerText();
  const earlier = await countdown();
  await eventually(
    async () => ((await countdown()) === earlier ? undefined : true),
    () => 'the countdown',
  );

  await button('Redeliver now…').click();
  await page.getByRole('dialog').getByText(/Makes one extra try now.*the schedule continues as before/).waitFor();
  await button('Redeliver now').click();
  await page.getByRole('row', { name: /by hand/ }).waitFor();
  await seen(/Next try in/);
  const { attempts } = await orThrow(service.box.deliveries.show(delivery.id));
  assert.deepEqual(attempts.map(({ manual }) => manual), [false, true]);
  assert.equal(await page.getByRole('row', { name: /by hand/ }).count(), 1);
  await orThrow(service.box.notifications.delete(id));
});

test('a bulk redelivery sends what was counted, and is an address', async () => {
  const { id } = await declare('ws-one', '/bulk');
  receiver.answers.set('/bulk', { status: 410, body: 'gone' });
  for (let count = 0; count < 4; count++) await send('ws-one');
  await whenAll(id, 'dead', 4);
  receiver.answers.delete('/bulk');
  await open(`ws-one/deliveries?outcome=dead&configuration=${id}`);
  await page.locator('tbody tr').nth(3).waitFor();
  assert.equal(await page.locator('tbody tr').count(), 4);
  await page.getByText('Send many again…').click();
  await page.getByText('4 deliveries', { exact: true }).waitFor();
  await button('Send 4 again…').click();
  await page.getByRole('dialog').getByText(/4 deliveries given up between/).waitFor();
  await button('Send 4 again').click();
  await page.getByRole('heading', { name: 'Sending again' }).waitFor();
  assert.match(page.url(), /\/recoveries\/[\da-f-]+$/);
  await page.getByText('4 of 4').waitFor();
  await whenAll(id, 'delivered', 4);
  assert.equal(receiver.got.filter(({ path }) => path === '/bulk').length, 4);
  await page.reload();
  await page.getByText('Done', { exact: true }).waitFor();
  await orThrow(service.box.notifications.delete(id));
});

test('a bulk redelivery by the last answer takes it from the list, and leaves the others', async () => {
  const { id } = await declare('ws-one', '/answers');
  for (const [status, count] of [[503, 3], [404, 2]]) {
    receiver.answers.set('/answers', { status, body: 'no' });
    for (let sent = 0; sent < count; sent++) await send('ws-one');
    await eventually(
      async () => ((await deliveriesOf(id)).filter(({ lastStatus }) => lastStatus === status).length === count ? true : undefined),
      () => `${count} answered with ${status}`,
    );
  }
  receiver.answers.delete('/answers');
  // Cancels those that wait for their next try.
  for (const enabled of [false, true]) await orThrow(service.box.notifications.update(id, { enabled }));
  await open(`ws-one/deliveries?outcome=cancelled&status=5xx&configuration=${id}`);
  await page.locator('tbody tr').nth(2).waitFor();
  await page.getByText('Send many again…').click();
  await page.getByText(/last answer: 5xx/).waitFor();
  await page.getByText('3 deliveries', { exact: true }).waitFor();
  await button('Send 3 again…').click();
  await page.getByRole('dialog').getByText('whose last answer is 5xx').waitFor();
  await button('Send 3 again').click();
  await page.getByText('3 of 3').waitFor();
  await page.getByRole('definition').filter({ hasText: /^5xx$/ }).waitFor();
  await whenAll(id, 'delivered', 3);
  assert.deepEqual((await deliveriesOf(id)).filter(({ outcome }) => outcome === 'cancelled').map(({ lastStatus }) => lastStatus), [404, 404]);
  await orThrow(service.box.notifications.delete(id));
});

test('by keyboard: a configuration is verified, paused, resumed, disabled and enabled, and the focus stays', async () => {
  const { id } = await declare('ws-one', '/focus');
  await open(`ws-one/c/${id}`);
  const use = (name, done, there) => usedByKeyboard(page, button(name), done, there);
  // Longer than a button that is disabled keeps the focus.
  let release;
  receiver.answers.set('/focus', { held: new Promise((resolve) => (release = resolve)) });
  await use('Verify', () => button('Verify…').waitFor(), /^button Disable…/);
  release();
  await seen('The destination has accepted the verification request.');
  await page.waitForFunction(() => document.activeElement.textContent === 'Verify');
  await use('Pause', () => health('Paused'), /^button Resume/);
  await use('Resume', () => button('Pause').waitFor(), /^button Pause/);
  await use('Disable…', () => page.getByRole('dialog').waitFor(), /^button Cancel/);
  await use('Disable', () => button('Enable').waitFor(), /^a Edit/);
  await use('Enable', () => button('Pause').waitFor(), /^button Verify/);
  await orThrow(service.box.notifications.delete(id));
});

test('by keyboard: a bulk redelivery is counted, sent, followed and stopped, and the focus is always visible', async () => {
  const { id } = await declare('ws-one', '/keys');
  receiver.answers.set('/keys', { status: 410, body: 'gone' });
  for (let count = 0; count < 40; count++) await send('ws-one');
  await whenAll(id, 'dead', 40);
  let release;
  receiver.answers.set('/keys', { held: new Promise((resolve) => (release = resolve)) });
  const sendAgain = async (count) => {
    await open(`ws-one/deliveries?outcome=dead&configuration=${id}`);
    await page.locator('tbody tr').nth(count - 1).waitFor();
    await tabTo(page.locator('summary', { hasText: 'Send many again…' }));
    await page.keyboard.press('Enter');
    await page.getByText(`${count} deliveries`, { exact: true }).waitFor();
    await tabTo(button(`Send ${count} again…`));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText(`${count} deliveries given up between`).waitFor();
    await tabTo(button(`Send ${count} again`));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sending again' }).waitFor();
  };
  await sendAgain(40);
  // At most 32 wait for a destination at a time.
  await page.getByText('32 of 40').waitFor();
  await tabTo(button('Stop'));
  await page.keyboard.press('Enter');
  await page.getByText('Stopped', { exact: true }).waitFor();
  await button('Stop').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement.textContent === 'What is given up now');
  assert.equal(await unseenFocus(page), undefined);
  release();
  await whenAll(id, 'delivered', 32);
  assert.equal((await deliveriesOf(id)).filter(({ outcome }) => outcome === 'dead').length, 8);
  assert.equal(receiver.got.filter(({ path }) => path === '/keys').length, 32);
  await page.getByText('32 of 40').waitFor();
  await sendAgain(8);
  await page.getByText('8 of 8').waitFor();
  await whenAll(id, 'delivered', 40);
  const sent = receiver.got.filter(({ path }) => path === '/keys').map(({ run }) => run);
  assert.equal(sent.length, 40);
  assert.equal(new Set(sent).size, 40);
  await orThrow(service.box.notifications.delete(id));
});

test('explain lists every obstacle, a fix changes the answer, and what was missed is sent once', async () => {
  const well = await declare('ws-one', '/well');
  const off = await declare('ws-one', '/off');
  await open('ws-one/explain?trigger=run:errored');
  await page.locator(`[data-configuration="${off.id}"]`).getByText('Would be notified').waitFor();
  // The clock of the page moves once a second: between two moves, what has just ended is counted all the same.
  await page.evaluate(() => {
    for (let id = setInterval(() => undefined, 1e6); id > 0; id -= 1) clearInterval(id);
  });
  // What waits when a configuration is disabled is cancelled: it was missed.
  await orThrow(service.box.notifications.pause(off.id));
  const missed = [await send('ws-one'), await send('ws-one')];
  await orThrow(service.box.notifications.update(off.id, { enabled: false, triggers: [] }));
  await whenAll(off.id, 'cancelled', 2);
  await orThrow(service.box.notifications.resume(off.id));
  const line = (id) => page.locator(`[data-configuration="${id}"]`);
  await line(well.id).getByText('Would be notified').waitFor();
  await line(off.id).getByText('it is off').waitFor();
  await line(off.id).getByText('it does not ask for this trigger').waitFor();

  await line(off.id).getByRole('button', { name: /^Turn on/ }).click();
  await line(off.id).getByText('it does not ask for this trigger').waitFor({ state: 'detached' });
  await line(off.id).getByText('it is off').waitFor();
  await button('Fix 1 and redeliver…').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/2 deliveries cancelled between/).waitFor();
  await button('Send 2 again').click();
  await page.getByRole('heading', { name: 'Sending again' }).waitFor();
  await whenAll(off.id, 'delivered', 2);
  const sent = receiver.got.filter(({ path }) => path === '/off').map(({ run }) => run);
  assert.deepEqual(sent.sort(), missed.sort());

  await open('ws-one/explain?trigger=run:errored');
  await line(off.id).getByText('Would be notified').waitFor();
  await seen('Nothing that enabled configurations were sent of this event ended without success.');
  for (const { id } of [well, off]) await orThrow(service.box.notifications.delete(id));
});

test('an event says why a configuration was not notified when it was accepted, and what is different now', async () => {
  const { id, name } = await declare('ws-one', '/then');
  await orThrow(service.box.notifications.update(id, { enabled: false, triggers: [] }));
  await send('ws-one');
  const { items } = await orThrow(service.box.events.list('ws-one', { pageSize: 1 }));
  await orThrow(service.box.notifications.update(id, { triggers: ['run:errored'] }));
  await open(`ws-one/events/${items[0].id}`);
  const missed = page.getByLabel('Not notified').locator('.line', { hasText: name });
  await missed.getByText('it is off; it does not ask for this trigger (now: it is off)').waitFor();
  await orThrow(service.box.notifications.enable(id));
  await missed.getByText('(now it would be notified)').waitFor();
  await page.getByRole('link', { name: 'Explain and fix' }).click();
  const line = page.locator(`[data-configuration="${id}"]`);
  await line.getByText('When the event was accepted: it is off; it does not ask for this trigger.').waitFor();
  await line.getByText('It would be notified now.').waitFor();
  await orThrow(service.box.notifications.delete(id));
  await open(`ws-one/events/${items[0].id}`);
  await missed.getByText('(it was deleted since)').waitFor();
});

test('a portal sees one workspace, without the shell and its name, and renews its token with the form as it was', async () => {
  const own = await declare('ws-one', '/own');
  const other = await declare('ws-two', '/other');
  await send('ws-two');
  await whenAll(other.id, 'delivered', 1);
  const [foreign] = await deliveriesOf(other.id);
  let mints = 0;
  let isMinting = true;
  let latest;
  const mint = async () => {
    if (!isMinting) return undefined;
    mints += 1;
    latest = await orThrow(service.box.workspaces.createPortalToken('ws-one', { kinds: ['generic'] }));
    return latest.secret;
  };
  const visit = async (path) => {
    host.show(`${service.url}/ui/portal/${path}`, mint);
    await portal.goto(host.url);
    return portal.frameLocator('iframe');
  };
  const portal = await (await browser.newContext()).newPage();
  watch(portal);

  let frame = await visit('ws-one');
  await frame.getByRole('link', { name: 'Hook /own' }).waitFor();
  const text = await frame.locator('body').innerText();
  assert.doesNotMatch(text, /ws-one|ws-two|Team|Jobs|\/other/);
  const colour = (name) => frame.locator('html').evaluate((html, property) => html.style.getPropertyValue(property), name);
  assert.equal(await colour('--surface'), '#102030');
  assert.equal(await colour('--accent'), '');
  // What the host leaves out is that of its dark surface, whatever the system has.
  const secondary = await frame.getByText('1 configuration', { exact: false }).first().evaluate((hint) => getComputedStyle(hint).color);
  assert.equal(secondary, 'rgb(164, 174, 191)');
  // Frames of other sites may have no storage at all.
  const stored = await frame.locator('body').evaluate(() => {
    const kept = [location.href, document.cookie, JSON.stringify(history.state), document.documentElement.outerHTML];
    try {
      return JSON.stringify([...kept, { ...localStorage }, { ...sessionStorage }]);
    } catch {
      return JSON.stringify(kept);
    }
  });
  assert.doesNotMatch(stored, new RegExp(latest.secret));

  // Addresses of others have nothing.
  for (const path of ['ws-two', `ws-one/c/${other.id}`, `ws-one/deliveries/${foreign.id}`, `ws-two/deliveries/${foreign.id}`]) {
    frame = await visit(path);
    await frame.getByText('or you may not see it').waitFor();
    assert.doesNotMatch(await frame.locator('body').innerText(), /\/other/);
  }

  // The token ends while a form is half filled.
  frame = await visit('ws-one/new');
  await field('Name', frame).fill('Half filled');
  isMinting = false;
  await orThrow(service.box.tokens.remove(latest.id));
  await field('URL', frame).fill(`${receiver.url}/portal`);
  await frame.getByRole('button', { name: 'Create' }).click();
  await frame.getByText('Your access has ended and is being renewed.').waitFor();
  assert.equal(await field('Name', frame).inputValue(), 'Half filled');
  isMinting = true;
  const before = mints;
  await frame.getByRole('heading', { name: 'Half filled' }).waitFor({ timeout: 20_000 });
  assert.ok(mints > before);
  assert.ok((await portal.evaluate(() => window.asked)).includes('signalbox-token-wanted'));
  assert.ok((await orThrow(service.box.notifications.list('ws-one'))).items.some(({ name }) => name === 'Half filled'));
  assert.equal((await orThrow(service.box.notifications.list('ws-two'))).items.length, 1);

  // Alone it says what it is for; pages of other origins cannot frame it.
  await portal.goto(`${service.url}/ui/portal/ws-one`);
  await portal.getByText('meant to be shown in a frame').waitFor();
  const evil = await (await browser.newContext()).newPage();
  await evil.goto(host.url.replace('host.example', 'evil.example'));
  await eventually(
    () => evil.frames().find((each) => /^chrome-error:/.test(each.url())),
    () => 'the refused frame',
  );
  await evil.context().close();
  await portal.context().close();
  await orThrow(service.box.notifications.delete(own.id));
});

test('what the caller may not do is not offered', async () => {
  const { id } = await declare('ws-one', '/rights');
  await send('ws-one');
  await whenAll(id, 'delivered', 1);
  const signedIn = async (workspaces) => {
    const { value } = await orThrow(service.box.tokens.create({ name: 'limited', type: 'client', workspaces }));
    const limited = await (await browser.newContext()).newPage();
    watch(limited);
    await limited.goto(`${service.url}/ui/notify`);
    await limited.getByLabel('Token').fill(value.SecretID);
    await limited.getByRole('button', { name: 'Sign in' }).click();
    await limited.getByRole('link', { name: 'Team ws-one' }).click();
    return limited;
  };
  const sender = await signedIn({ 'ws-one': 'events' });
  await sender.getByText('You may send events to this workspace').waitFor();
  assert.equal(await sender.getByRole('link', { name: 'New configuration' }).count(), 0);
  assert.equal(await sender.getByRole('link', { name: 'Team ws-two' }).count(), 0);
  await sender.context().close();

  const [event] = (await orThrow(service.box.events.list('ws-one'))).items;
  const erase = (of) => of.getByRole('button', { name: 'Erase the content…' });
  const admin = await signedIn({ 'ws-one': 'admin' });
  await admin.goto(`${service.url}/ui/notify/ws-one/events/${event.id}`);
  await erase(admin).waitFor();
  await admin.context().close();
  await orThrow(service.box.notifications.delete(id));
});

test('nothing of the data was run, and the policy was not violated', async () => {
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
});
