import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve } from '../../../../adapters/cli/serve/serve.js';

/** The status of the page of a server, its sign-in, and whether its address is printed. */
async function pageOf(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  let printed = '';
  const out = (text: string): void => {
    printed += text;
  };
  const terminal = {
    out,
    error: () => undefined,
    read: () => Promise.reject(new Error('no file')),
    colours: false,
    environment,
  };
  const { origin, stop } = await serve(['--listen', '127.0.0.1:0', '--no-runner', ...args], terminal);
  const page = await fetch(`${origin}/ui/jobs/default/a`);
  const text = await page.text();
  await stop();
  const signIn = /"signIn":"(\w+)"/.exec(text)?.[1];
  return [page.status, signIn, printed.includes(`listening on ${origin}\nweb page: ${origin}/ui/\n`)];
}

it('serves the page, and prints its address', async () => {
  expect(await pageOf([])).toEqual([200, 'token', true]);
  expect(await pageOf(['--access', 'open', '--compat', 'nomad'])).toEqual([200, 'open', true]);
});

it('can leave it out: by flag, setting, variable and file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-page-'));
  const config = join(folder, 'signalbox.json');
  await writeFile(config, JSON.stringify({ page: false }));
  const off = [404, undefined, false];
  expect(await pageOf(['--no-page'])).toEqual(off);
  expect(await pageOf(['--set', 'page=false'])).toEqual(off);
  expect(await pageOf([], { SIGNALBOX_PAGE: 'false' })).toEqual(off);
  expect(await pageOf(['--config', config])).toEqual(off);
  expect(await pageOf(['--config', config, '--set', 'page=true'])).toEqual([200, 'token', true]);
  await rm(folder, { recursive: true });
});
