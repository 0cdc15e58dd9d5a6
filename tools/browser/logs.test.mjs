// The output of tasks, written by processes on this machine, as the page shows it.
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { allocationOf, eventually, jobNamed, register, startBrowser, startServer, watched } from './support.mjs';

let server;
let browser;
let folder;
let context;
let page;
let faults;

/** A job whose outputs repeat two files, as they grow. */
async function fed(name, logs) {
  const files = { stdout: join(folder, `${name}.out`), stderr: join(folder, `${name}.err`) };
  for (const file of Object.values(files)) await writeFile(file, '');
  const job = jobNamed(name, `tail -c +1 -f ${files.stderr} >&2 & exec tail -c +1 -f ${files.stdout}`);
  if (logs !== undefined) job.TaskGroups[0].Tasks[0].LogConfig = logs;
  await register(server.url, job);
  return { ...files, id: await allocationOf(server.url, name, ['running']) };
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-browser-'));
  [server, browser] = await Promise.all([startServer('--access', 'open'), startBrowser([])]);
});
after(async () => {
  await browser?.close();
  await server?.ended();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext({ acceptDownloads: true, viewport: { width: 1200, height: 800 } });
  page = await context.newPage();
  faults = await watched(page);
});

const addressOf = (id, stream = 'stdout', rest = '') => `${server.url}/ui/allocs/${id}/logs/main/${stream}${rest}`;
const rows = () => page.locator('.log .row > span');
const shown = async () => (await rows().allInnerTexts()).map((text) => text.trimEnd());
const hint = () => page.locator('.log + .toolbar .hint').first().innerText();
const find = (text) => page.getByLabel('Find', { exact: true }).first().fill(text);
const status = () => page.locator('search [role=status]').first().innerText();

const becomes = (read, wanted) => {
  let last;
  return eventually(
    async () => {
      last = await read();
      return wanted(last) ? last : undefined;
    },
    () => `${wanted}, last: ${JSON.stringify(last)?.slice(0, 2000)}`,
  );
};

/** The first line that is visible, and how far below the upper edge it begins. */
const firstVisible = () =>
  page.evaluate(() => {
    const log = document.querySelector('.log');
    const edge = log.getBoundingClientRect().top;
    const row = [...log.querySelectorAll('.row')].find((each) => each.getBoundingClientRect().bottom > edge);
    return { text: row?.querySelector('span').textContent, top: (row?.getBoundingClientRect().top ?? 0) - edge };
  });
const scrollTo = (top) => page.locator('.log').evaluate((log, at) => log.scrollTo(0, at), top);

const count = 100_000;
const lineOf = (number) => `line ${number} of a long output, with some text in it`;

test('100,000 lines: the end is shown first, what is not loaded is said, and what one reads stays in place', async () => {
  await register(server.url, jobNamed('long', `seq -f 'line %.0f of a long output, with some text in it' ${count}; sleep 600`));
  const id = await allocationOf(server.url, 'long', ['running']);
  const all = Array.from({ length: count }, (_, at) => `${lineOf(at + 1)}\n`).join('').length;
  await page.goto(`${server.url}/ui/allocs/${id}`);
  const tab = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Logs' });
  await tab.waitFor();
  await eventually(
    async () => ((await (await fetch(`${server.url}/v1/allocation/${id}/log?task=main&type=stdout&limit=0`)).json()).endByte === all ? true : undefined),
    () => 'the whole output',
  );
  const begun = performance.now();
  await tab.click();
  await page.getByText(lineOf(count), { exact: true }).waitFor();
  const first = performance.now() - begun;
  assert.match(await hint(), /^5,\d\d\d lines, bytes 4,\d\d\d,\d\d\d–4,988,895; the earlier part loads when you scroll up/);
  await find('line 50000 ');
  await becomes(status, (text) => text === 'not found in the loaded lines');

  await find('');
  await scrollTo(150);
  const before = await becomes(firstVisible, ({ text }) => text?.startsWith('line 94'));
  await becomes(hint, (text) => /^10,\d\d\d lines/.test(text));
  assert.equal((await firstVisible()).text, before.text);

  const times = await scrollTimes();
  const reading = await firstVisible();
  // The button goes when the last earlier part has been loaded, also by scrolling.
  while (await page.getByRole('button', { name: 'Load earlier' }).isVisible()) {
    await page.getByRole('button', { name: 'Load earlier' }).click({ timeout: 2000 }).catch(() => undefined);
    await becomes(firstVisible, ({ text }) => text === reading.text);
  }
  await becomes(hint, (text) => text.startsWith('100,000 lines, bytes 0–4,988,895; the node keeps'));
  await page.getByLabel('only matches').check();
  const searched = performance.now();
  await find('0000 of');
  await becomes(status, (text) => text === '1 of 10');
  const search = performance.now() - searched;
  assert.deepEqual(await shown(), Array.from({ length: 10 }, (_, at) => lineOf((at + 1) * 10_000)));
  assert.ok((await page.locator('*').count()) < 1500);
  console.log(`# first screen ${first | 0} ms, search ${search | 0} ms, frames p95 ${times} ms`);
  assert.ok(first < 2000 && search < 1500, 'far beyond the budget');
  assert.deepEqual(faults, []);
});

/** The 95th of 100 frames while the log is scrolled, in milliseconds. */
function scrollTimes() {
  return page.evaluate(async () => {
    const log = document.querySelector('.log');
    const times = [];
    for (let frame = 0, last = performance.now(); frame < 60; frame++) {
      log.scrollTop += 700;
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - last);
      last = performance.now();
    }
    return Math.round(times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)]);
  });
}

test('new lines are followed; scrolling up stops that, and a button counts them and brings back', async () => {
  const { stdout, id } = await fed('follow');
  await appendFile(stdout, Array.from({ length: 300 }, (_, at) => `first ${at}\n`).join(''));
  await page.goto(addressOf(id));
  await page.getByText('first 299', { exact: true }).waitFor();
  await appendFile(stdout, Array.from({ length: 5000 }, (_, at) => `second ${at}\n`).join(''));
  await page.getByText('second 4999', { exact: true }).waitFor();

  await page.locator('.log').hover();
  await page.mouse.wheel(0, -2000);
  await becomes(() => page.getByLabel('follow').isChecked(), (isOn) => !isOn);
  const place = await firstVisible();
  await appendFile(stdout, 'third\nfourth\n');
  const button = page.getByRole('button', { name: '2 new lines' });
  await button.waitFor();
  assert.deepEqual(await firstVisible(), place);
  await button.click();
  await page.getByText('fourth', { exact: true }).waitFor();
  assert.equal(await page.getByLabel('follow').isChecked(), true);
  assert.deepEqual(faults, []);
});

test('a question without a line end is shown while the task waits', async () => {
  const { stdout, id } = await fed('question');
  await page.goto(addressOf(id));
  await appendFile(stdout, 'ready\nGo on? ');
  await becomes(shown, (all) => all.join('|') === 'ready|Go on?');
  await appendFile(stdout, 'yes\nnext\n');
  await becomes(shown, (all) => all.join('|') === 'ready|Go on? yes|next');
  assert.deepEqual(faults, []);
});

test('codes for terminals have no effect but colours, and hostile bytes are text', async () => {
  const esc = '\u001b';
  const { stdout, id } = await fed('hostile');
  const hostile = [
    `${esc}]52;c;cm0gLXJm\u0007clipboard`,
    `${esc}]0;owned\u0007title`,
    `${esc}[2J${esc}[1;1H${esc}[3Acursor${esc}[6n`,
    `${esc}[31mred${esc}[0m plain`,
    '<img src=x onerror="document.title=1"><script>document.title=2</script>',
    'a\0b\u202ec',
    '10 %\r100 %',
    `${esc}]0;${'\u009d'.repeat(4000)}${esc}[1mend`,
    `{"level":"error","msg":"<b>bold</b>","javascript:alert(1)":{"a":1}}`,
  ];
  await page.addInitScript(() => {
    globalThis.written = [];
    navigator.clipboard.writeText = async (text) => globalThis.written.push(text);
    document.addEventListener('copy', () => globalThis.written.push('a selection'));
  });
  await page.goto(addressOf(id));
  await appendFile(stdout, Buffer.concat([Buffer.from(`${hostile.join('\n')}\nbytes `), Buffer.from([0xff, 0xfe, 10])]));
  await becomes(shown, (all) => all.at(-1)?.startsWith('bytes'));
  assert.deepEqual(await shown(), [
    'clipboard',
    'title',
    'cursor',
    'red plain',
    hostile[4],
    'a‹U+0000›b‹U+202E›c',
    '100 %',
    'end',
    'level=error  msg=<b>bold</b>  javascript:alert(1)={"a":1}',
    'bytes \ufffd\ufffd',
  ]);
  const red = await page.getByText('red', { exact: true }).evaluate((span) => getComputedStyle(span).color);
  const plain = await page.getByText('clipboard', { exact: true }).evaluate((span) => getComputedStyle(span).color);
  assert.notEqual(red, plain);
  assert.match(await page.title(), /^hostile\.g\[0\] · /);
  assert.deepEqual(await page.evaluate(() => globalThis.written), []);
  assert.deepEqual(faults, []);
});

test('a search counts, steps and filters, also new lines, with colours, in both streams', async () => {
  const { stdout, stderr, id } = await fed('search');
  await appendFile(stdout, `${Array.from({ length: 200 }, (_, at) => `out ${at}`).join('\n')}\n\u001b[32mTimeout\u001b[0m one\nother\ntime\u001b[1mout\u001b[0m two\n`);
  await appendFile(stderr, 'WARN slow\nERROR timeout on stderr\n{"level":"error","msg":"timeout in JSON"}\n');
  await page.goto(addressOf(id));
  await page.getByText('other', { exact: true }).waitFor();
  await find('timeout');
  await becomes(status, (text) => text === '1 of 2');
  await page.getByLabel('Next match').click();
  await becomes(status, (text) => text === '2 of 2');
  assert.equal((await page.locator('.log .row.linked > span').innerText()).trim(), 'timeout two');
  await page.getByLabel('Next match').click();
  await page.getByLabel('Previous match').click();
  await becomes(status, (text) => text === '2 of 2');
  await page.getByLabel('only matches').check();
  await becomes(shown, (all) => all.join('|') === 'Timeout one|timeout two');
  assert.equal(await page.locator('.fg-2 mark').innerText(), 'Timeout');
  await appendFile(stdout, 'no match\nTIMEOUT three\n');
  await becomes(shown, (all) => all.join('|') === 'Timeout one|timeout two|TIMEOUT three');

  await page.getByRole('link', { name: 'both', exact: true }).click();
  await becomes(shown, (all) => all.length === 5);
  assert.match(page.url(), /\/both\?.*q=timeout/);
  assert.deepEqual((await shown()).slice(3), ['ERROR timeout on stderr', 'level=error  msg=timeout in JSON']);
  await page.getByLabel('Find', { exact: true }).nth(1).fill('');
  await page.getByLabel('Level').nth(1).selectOption('warn');
  await becomes(shown, (all) => all.join('|') === 'WARN slow|ERROR timeout on stderr|level=error  msg=timeout in JSON');
  const wrap = page.getByLabel('wrap').first();
  await wrap.uncheck();
  await becomes(() => page.locator('.log.wrap').count(), (number) => number === 0);
  assert.deepEqual(faults, []);
});

test('a hostile pattern ends, a wrong one says so, and the next search has its own answer', async () => {
  const { stdout, id } = await fed('pattern');
  await appendFile(stdout, `${'a'.repeat(40)}!\nabc\nabd\n`);
  await page.goto(addressOf(id));
  await page.getByText('abd', { exact: true }).waitFor();
  await find('/ab[cd]/');
  await becomes(status, (text) => text === '1 of 2');
  const begun = performance.now();
  await find('/(a+)+$/');
  await becomes(status, (text) => text === 'The pattern takes too long.');
  const time = performance.now() - begun;
  console.log(`# hostile pattern ended after ${time | 0} ms`);
  assert.ok(time < 1000);
  await find('/(/');
  await becomes(status, (text) => text.includes('regular expression'));
  for (const text of ['/a/', '/ab/', '/abc/']) await find(text);
  await becomes(status, (text) => text === '1 of 1');
  await find('/(a+)+$/');
  await find('/abd/');
  await becomes(status, (text) => text === '1 of 1');
  assert.deepEqual(faults, []);
});

/** How long input would wait, in milliseconds: the longest of twenty turns of the page. */
const longestDelay = () =>
  page.evaluate(async () => {
    let longest = 0;
    for (let frame = 0, last = performance.now(); frame < 20; frame++) {
      await new Promise((resolve) => setTimeout(resolve));
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    return longest;
  });

test('a line of 5 MB is shown by its beginning, and the page stays quick', async () => {
  const { stdout, id } = await fed('wide');
  await appendFile(stdout, `before\n${'wide '.repeat(1_000_000)}\n`);
  await page.goto(addressOf(id));
  // Only a part of the line is within what is read first.
  await page.getByRole('button', { name: /^all / }).waitFor();
  await appendFile(stdout, `${'more '.repeat(1_000_000)}\nafter\n`);
  await page.getByText('after', { exact: true }).waitFor({ timeout: 10_000 });
  const delay = await longestDelay();
  assert.ok((await page.locator('.log').innerText()).length < 50_000);
  assert.ok(delay < 500);
  await page.getByRole('button', { name: 'Load earlier' }).click();
  await becomes(hint, (text) => !text.includes('earlier part') && /bytes 0–10,000,015/.test(text));
  assert.deepEqual(faults, []);
});

test('a file of 30 MB is shown by its beginning, and the page stays quick', async () => {
  const script = `{ printf 'begin '; head -c 30000000 /dev/zero | tr '\\0' x; } > "$NOMAD_ALLOC_DIR/payload.txt"; echo written; exec sleep 600`;
  await register(server.url, jobNamed('heavy', script));
  const id = await allocationOf(server.url, 'heavy', ['running']);
  await page.goto(addressOf(id));
  await page.getByText('written', { exact: true }).waitFor();
  await page.goto(`${server.url}/ui/allocs/${id}/files/alloc`);
  await page.getByRole('button', { name: 'payload.txt' }).click();
  await page.getByText('begin xxx').waitFor();
  const delay = await longestDelay();
  assert.ok(delay < 200, `${delay} ms`);
  assert.ok((await page.locator('pre').innerText()).length <= 65_536);
  assert.deepEqual(faults, []);
});

test('a link to a line opens it elsewhere; after rotation it says that the part is gone', async () => {
  const { stdout, id } = await fed('rotated', { MaxFiles: 2, MaxFileSizeMB: 1 });
  const lines = (from, to) => Array.from({ length: to - from }, (_, at) => `number ${from + at} ${'.'.repeat(80)}\n`).join('');
  await appendFile(stdout, lines(0, 4000));
  await page.goto(addressOf(id, 'both'));
  const row = page.locator('.row', { hasText: 'number 3990 ' });
  await row.waitFor();
  await row.getByRole('link').click();
  await becomes(() => page.url(), (url) => /\/stdout#b\d+-\d+$/.test(url));
  const link = page.url();
  await appendFile(stdout, lines(4000, 8000));
  await page.goto('about:blank');
  await page.goto(link);
  const linked = page.locator('.row.linked > span');
  await linked.waitFor();
  assert.match(await linked.innerText(), /^number 3990 /);
  assert.ok(await linked.evaluate((span) => {
    const { top, bottom } = document.querySelector('.log').getBoundingClientRect();
    const own = span.getBoundingClientRect();
    return own.top >= top && own.bottom <= bottom;
  }));
  assert.equal(await page.getByLabel('follow').isChecked(), false);

  // What is shown is read on while the files rotate below it.
  await appendFile(stdout, lines(8000, 40_000));
  await becomes(hint, (text) => text.includes('are not kept'));
  assert.match(await linked.innerText(), /^number 3990 /);
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByText('The part that the address names is gone').waitFor();
  assert.deepEqual(faults, []);
});

test('the download equals the output byte for byte, also while the task writes', async () => {
  const { stdout, id } = await fed('download');
  const content = Buffer.from(Array.from({ length: 500_000 }, (_, at) => (at * 7 + (at >> 8)) % 256));
  await appendFile(stdout, content);
  await page.goto(addressOf(id));
  await becomes(hint, (text) => text.includes('–500,000'));
  let writes = true;
  const writing = (async () => {
    while (writes) await appendFile(stdout, 'and more\n');
  })();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download all' }).click()]);
  const got = await readFile(await download.path());
  writes = false;
  await writing;
  assert.ok(got.length >= 500_000);
  assert.ok(got.equals((await readFile(stdout)).subarray(0, got.length)));
  assert.deepEqual(faults, []);
});

test('a task that ends, and an allocation that is collected while it is shown, say so', async () => {
  await register(server.url, { ...jobNamed('ends', 'echo first; printf last; exit 0'), Type: 'batch' });
  const id = await allocationOf(server.url, 'ends', ['complete']);
  await page.goto(addressOf(id));
  await becomes(shown, (all) => all.join('|') === 'first|last');
  await becomes(hint, (text) => text.endsWith('the task has ended'));
  assert.equal((await fetch(`${server.url}/v1/job/ends?purge=true`, { method: 'DELETE' })).status, 200);
  assert.equal((await fetch(`${server.url}/v1/system/gc`, { method: 'PUT' })).status, 200);
  await page.getByText('The server does not have the allocation, or you may not see it.').waitFor();
  assert.deepEqual(faults, []);
});
