import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serve } from '../../../../adapters/cli/serve/serve.js';

/** Options of the page from all sources. */
const shownBy = {
  flags: ['--page-title', 'Box', '--page-link', 'Wiki=/w', '--page-frame-ancestor', 'https://portal.example.org'],
  environment: {
    SIGNALBOX_PAGE_TITLE: 'Box',
    SIGNALBOX_PAGE_LINKS: 'Wiki=/w',
    SIGNALBOX_PAGE_FRAME_ANCESTORS: 'https://portal.example.org',
  },
  file: { pageTitle: 'Box', pageLinks: ['Wiki=/w'], pageFrameAncestors: ['https://portal.example.org'] },
};

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
  settings = /"title":.*?(?=\}<\/script>)/.exec(text)?.[0];
  framedBy = /frame-ancestors ([^;]+)/.exec(page.headers.get('content-security-policy') ?? '')?.[1];
  return [page.status, signIn, printed.includes(`listening on ${origin}\nweb page: ${origin}/ui/\n`)];
}
/** Of the page that was read last. */
let settings: string | undefined;
let framedBy: string | undefined;

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

it('shows title and links, and may be framed by whom the operator names: by flag, variable and file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-page-'));
  const config = join(folder, 'signalbox.json');
  await writeFile(config, JSON.stringify(shownBy.file));
  const shown = '"title":"Box","links":[{"label":"Wiki","href":"/w"}],"frameAncestors":["https://portal.example.org"]';
  expect(await pageOf(shownBy.flags)).toEqual([200, 'token', true]);
  expect([settings, framedBy]).toEqual([shown, 'https://portal.example.org']);
  expect(await pageOf([], shownBy.environment)).toEqual([200, 'token', true]);
  expect([settings, framedBy]).toEqual([shown, 'https://portal.example.org']);
  expect(await pageOf(['--config', config])).toEqual([200, 'token', true]);
  expect([settings, framedBy]).toEqual([shown, 'https://portal.example.org']);
  expect(await pageOf([])).toEqual([200, 'token', true]);
  expect(framedBy).toBe("'none'");
  await rm(folder, { recursive: true });
});
