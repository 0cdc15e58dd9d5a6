import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-imports.js';

/*
 * How many files a reader must open to follow a request, and how much there is to read. The bounds are the numbers reached: lower them
 * when a change needs less, and do not raise them.
 */

const walks = {
  register: { from: 'POST /v1/jobs until its answer', most: 83 },
  notify: { from: 'the answer of POST /v1/jobs until the log of the webhook has the delivery', most: 117 },
  configure: { from: 'the creation of a notification configuration with verification', most: 61 },
  list: { from: 'GET /v1/jobs with a filter', most: 41 },
};
const mostFiles = 863;
const mostLines = 143_904;

const list = 'SIGNALBOX_WALKS';
const sources = sourceFiles(['src', 'adapters']);
const linesOf = (file: string): number => readFileSync(file, 'utf8').split('\n').length - 1;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-walks-'));
let files: Readonly<Record<string, readonly string[]>> = {};

beforeAll(async () => {
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  await build({
    entryPoints: ['test/support/walks.ts'],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
  });
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'walks.mjs')]);
  files = JSON.parse(stdout) as typeof files;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(Object.entries(walks))('%s runs functions of a bounded number of files', (name, { from, most }) => {
  const run = files[name] ?? [];
  if (process.env[list] === 'list') process.stdout.write(`\n${from}: ${run.length} files\n${bySize(run)}\n`);
  expect(run.every((file) => sources.includes(file))).toBe(true);
  expect(run.length).toBeGreaterThan(10);
  expect(run.length, `files that run from ${from}; ${list}=list prints them`).toBeLessThanOrEqual(most);
});

it('has a bounded number of files and lines', () => {
  expect(sources.length, 'files of src and adapters').toBeLessThanOrEqual(mostFiles);
  const lines = sources.reduce((sum, file) => sum + linesOf(file), 0);
  expect(lines, 'lines of src and adapters').toBeLessThanOrEqual(mostLines);
});

/** Smallest files first: they may fit into the one that imports them. */
function bySize(run: readonly string[]): string {
  const sized = run.map((file) => ({ file, lines: linesOf(file) })).sort((a, b) => a.lines - b.lines);
  return sized.map(({ file, lines }) => `${String(lines).padStart(5)} ${file}`).join('\n');
}
