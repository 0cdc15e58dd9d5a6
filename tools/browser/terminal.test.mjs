// Commands in tasks from the web page, in a terminal and without one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, beforeEach, test } from 'node:test';
import { callsOf, eventually, jobNamed, startBrowser, startServer, watchedPage } from './support.mjs';

let server;
let browser;
let token;
let call;
let allocation;
let context;
let page;
let faults;
const timeout = 60_000;

before(async () => {
  server = await startServer('--access', 'token');
  token = await server.printed(/^management token.*: (\S+)/);
  call = callsOf(server, token);
  await call('POST', '/v1/jobs', { Job: jobNamed('shell', 'exec sleep 600') });
  allocation = await eventually(
    async () => (await call('GET', '/v1/job/shell/allocations')).find(({ ClientStatus }) => ClientStatus === 'running')?.ID,
    () => 'a running allocation',
  );
  browser = await startBrowser([]);
});
after(async () => {
  await browser?.close();
  await server?.ended();
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext();
  ({ page, faults } = await watchedPage(context));
  // The page may not read the clipboard: what is written to it is noted.
  await page.addInitScript(() => {
    window.copied = [];
    const note = (text) => Promise.resolve(window.copied.push(text));
    Object.assign(navigator.clipboard, { writeText: note, write: note });
  });
});

async function signedIn(path, secret = token) {
  await context.request.post(`${server.url}/ui-session`, { data: { token: secret } });
  await page.goto(`${server.url}/ui/${path}`);
}
const output = () => page.locator('.xterm-rows');
const sees = (text) => output().getByText(text).first().waitFor();
const typed = (text) => page.keyboard.type(`${text}\n`);

test('a shell in a terminal: output, size, exit code, and nothing that it writes reaches the browser', { timeout }, async () => {
  await signedIn(`allocs/${allocation}`);
  await page.getByRole('link', { name: 'Exec' }).click();
  assert.ok(page.url().endsWith(`/allocs/${allocation}/exec/main`));
  const title = await page.title();
  await page.getByRole('button', { name: 'Connect' }).click();
  await page.getByText('Running', { exact: true }).waitFor();
  await typed('echo sum $((40 + 2))');
  await sees('sum 42');
  await typed('stty size | tr " " x');
  const before = await eventually(async () => /\b(\d+x\d+)\b/.exec(await output().innerText())?.[1], () => 'the size');
  await page.setViewportSize({ width: 900, height: 500 });
  await typed('clear; stty size | tr " " x');
  await eventually(
    async () => (/\b(\d+x\d+)\b/.exec(await output().innerText())?.[1] ?? before) === before ? undefined : true,
    () => 'another size',
  );
  // The clipboard, the title and a link; then colours of all kinds, which are allowed.
  await typed(String.raw`clear; printf '\033]52;c;c3RvbGVu\007\033]0;taken\007\033]2;taken\007\033]8;;https://example.net/\007link\033]8;;\007\n'`);
  await typed(String.raw`printf '\033[31mred \033[38;5;202mindexed \033[38;2;1;2;3mexact \033[4:3;58;2;9;9;9mwavy\033[0m \033[7mtur%s\033[0m\n' ned`);
  // The word is in the output only, and not in the command as it was typed.
  await sees('turned');
  assert.deepEqual(await page.evaluate(() => window.copied), []);
  assert.equal(await page.title(), title);
  assert.equal(await page.locator('.xterm a').count(), 0);
  const red = output().locator('span', { hasText: 'red' }).last();
  const colours = await red.evaluate((span) => [span, document.querySelector('.terminal-frame')].map((each) => getComputedStyle(each).color));
  assert.notEqual(colours[0], colours[1]);

  await page.keyboard.press('Shift+F6');
  const isFocused = (name) => page.getByRole('button', { name }).evaluate((button) => button === document.activeElement);
  assert.ok(await isFocused('Go past the terminal'));
  await page.keyboard.press('Enter');
  assert.ok(await isFocused('Save the output'));
  const download = page.waitForEvent('download');
  await page.keyboard.press('Enter');
  assert.match(await readFile(await (await download).path(), 'utf8'), /red indexed exact wavy turned/);
  await page.getByLabel('For screen readers').check();
  await page.locator('.xterm-accessibility-tree').getByText('red indexed').waitFor();
  await output().locator('span', { hasText: 'turned' }).last().dblclick({ force: true });
  await page.getByRole('button', { name: 'Copy the selection' }).click();
  assert.deepEqual(await page.evaluate(() => window.copied), ['turned']);

  await page.locator('.xterm-helper-textarea').focus();
  await typed('exit 3');
  await page.getByText(/^Exit code 3 after /).waitFor();
  await page.getByRole('button', { name: 'Reconnect' }).click();
  await page.getByText('Running', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'End it' }).click();
  await page.getByText(/^Ended after /).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  assert.deepEqual(faults, []);
  // Nothing of the terminal is left in the document.
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.locator('.xterm').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.adoptedStyleSheets.length), 0);
});

test('a paste is sent as a whole or refused: too large, or while the command does not read', { timeout }, async () => {
  const paste = (size) =>
    page.locator('.xterm-helper-textarea').evaluate((field, length) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'x'.repeat(length));
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }, size);
  await signedIn(`allocs/${allocation}/exec/main`);
  await page.getByRole('button', { name: 'Connect' }).click();
  await page.getByText('Running', { exact: true }).waitFor();
  // A terminal that is not raw takes at most 4,096 bytes of a line.
  await typed('stty raw -echo; echo go; head -c 1000000 | wc -c; stty sane; echo again $((1 + 1))');
  await sees('go');
  await paste(2_000_000);
  await page.getByRole('alert').getByText('Not sent: 2,000,000 bytes at once are more than the 1 MiB').waitFor();
  await paste(1_000_000);
  await sees('1000000');
  await sees('again 2');
  assert.equal(await page.getByRole('alert').count(), 0);
  await typed('stty raw -echo; echo deaf; exec sleep 60');
  await sees('deaf');
  const refusal = page.getByRole('alert').getByText('the command does not read its input');
  for (let pastes = 0; pastes < 40 && (await refusal.count()) === 0; pastes++) await paste(1_000_000);
  await refusal.waitFor();
  await page.getByRole('button', { name: 'End it' }).click();
  await page.getByText(/^Ended after /).waitFor();
  await page.getByRole('alert').getByText('the command may still run').waitFor();
  assert.deepEqual(faults, []);
});

test('a command line without a terminal takes lines; the right that is taken away ends it', { timeout }, async () => {
  const allowed = 'namespace "default" { capabilities = ["read-job", "list-jobs", "alloc-exec", "alloc-node-exec"] }';
  await call('POST', '/v1/acl/policy/exec', { Name: 'exec', Rules: allowed });
  const { SecretID } = await call('POST', '/v1/acl/token', { Name: 'ada', Type: 'client', Policies: ['exec'] });
  await signedIn(`allocs/${allocation}/exec/main`, SecretID);
  await page.getByRole('combobox', { name: /^Command/ }).selectOption('another command');
  await page.getByLabel('Command line').fill(`/bin/sh -c 'read -r name; echo "hello $name"; exec cat`);
  await page.getByText('A quote of the command line is not closed.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Connect' }).isDisabled());
  await page.getByLabel('Command line').press('End');
  await page.keyboard.type("'");
  await page.getByLabel('In a terminal').uncheck();
  await page.getByRole('button', { name: 'Connect' }).click();
  await page.getByText('Running', { exact: true }).waitFor();
  await typed('adb\b\ba');
  await sees('hello aa');
  await call('POST', '/v1/acl/policy/exec', { Name: 'exec', Rules: allowed.replace(', "alloc-exec", "alloc-node-exec"', '') });
  await page.getByText(/^Ended after /).waitFor();
  await page.getByRole('alert').waitFor();
  await page.getByText('Commands in tasks need alloc-exec and alloc-node-exec in default.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Reconnect' }).isDisabled());
  assert.equal(await page.getByRole('link', { name: 'Exec' }).count(), 0);
  assert.deepEqual(faults, []);
});

test('an action shows output, exit code and duration, has the size of its terminal, is copied, and ends with the right', { timeout }, async () => {
  const allowed = 'namespace "default" { capabilities = ["read-job", "list-jobs", "alloc-exec", "alloc-node-exec"] }';
  await call('POST', '/v1/acl/policy/acts', { Name: 'acts', Rules: allowed });
  const { SecretID } = await call('POST', '/v1/acl/token', { Name: 'bob', Type: 'client', Policies: ['acts'] });
  const job = jobNamed('acting', 'exec sleep 600', [
    { Name: 'greet', Command: '/bin/sh', Args: ['-c', String.raw`printf '\033[32mhello\033[0m\n\033]52;c;c3RvbGVu\007'; size=$(stty size); echo "$size" | tr " " x; sleep 1; while [ "$(stty size)" = "$size" ]; do sleep 0.1; done; stty size | tr " " x; exit 4`] },
    { Name: '<b>endless</b>', Command: '/bin/sh', Args: ['-c', 'while true; do echo tick; sleep 0.1; done'] },
  ]);
  await call('POST', '/v1/jobs', { Job: job });
  await eventually(
    async () => (await call('GET', '/v1/job/acting/allocations')).find(({ ClientStatus }) => ClientStatus === 'running')?.ID,
    () => 'a running allocation',
  );
  await signedIn('jobs/default/acting', SecretID);
  await page.getByRole('link', { name: 'Actions' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await sees('hello');
  await page.setViewportSize({ width: 800, height: 500 });
  await page.getByText(/^Exit code 4 after 1\.\d s/).waitFor();
  const sizes = (await output().innerText()).match(/\b\d+x\d+\b/g);
  assert.equal(new Set(sizes).size, 2, `another size after the window was made smaller, ${sizes}`);
  await page.getByRole('button', { name: 'Copy the output' }).click();
  assert.match((await page.evaluate(() => window.copied)).join(), /^hello\n\d+x\d+\n\d+x\d+\n$/);
  await page.getByRole('combobox', { name: 'Action' }).selectOption('<b>endless</b> in main');
  await page.getByRole('button', { name: 'Run again' }).click();
  await sees('tick');
  await call('POST', '/v1/acl/policy/acts', { Name: 'acts', Rules: allowed.replace(', "alloc-exec", "alloc-node-exec"', '') });
  await page.getByText(/^Ended after /).waitFor();
  await page.getByRole('alert').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Run again' }).isDisabled());
  assert.deepEqual(faults, []);
});
