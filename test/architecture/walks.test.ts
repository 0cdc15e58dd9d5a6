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
/** Calls for people who look, a sign-in and samples came later than the bounds of the rest; what they have is bounded apart. */
const added = [
  'adapters/cli/commands/jobs/outlook-commands.ts',
  'adapters/cli/play/play-command.ts',
  'adapters/cli/play/playground.ts',
  'adapters/cli/settings/page-settings.ts',
  'adapters/http-server/edge/page-clock.ts',
  'adapters/http-server/edge/page.ts',
  'adapters/http-server/edge/session.ts',
  'adapters/runner/logs/log-files.ts',
  'adapters/testing/simulated-nodes.ts',
  'src/access/try-policy.ts',
  'src/api/download.ts',
  'src/jobs/changes/job-restart.ts',
  'src/jobs/runs/failure-causes.ts',
  'src/jobs/status/job-health.ts',
  'src/notifications/delivery/answer-filter.ts',
  'src/notifications/events/sample-event.ts',
  'src/operations/access/caller-rights.ts',
  'src/operations/access/tokens/sessions.ts',
  'src/operations/access/try-policy.ts',
  'src/operations/allocations/read-task-log.ts',
  'src/operations/allocations/restart-job.ts',
  'src/operations/context/series.ts',
  'src/operations/jobs/reading/outlook.ts',
  'src/operations/jobs/reading/read-ended-runs.ts',
  'src/operations/jobs/registration/plan-seal.ts',
  'src/operations/jobs/registration/simulate-job.ts',
  'src/operations/notifications/events/event-explanations.ts',
  'src/operations/notifications/read-waiting.ts',
  'src/operations/notifications/search.ts',
  'src/operations/notifications/workspaces/portal-tokens.ts',
];
const mostFiles = 858;
const mostLines = 145_061;
const mostLinesAdded = 3_813;

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
  const linesIn = (files: readonly string[]): number => files.reduce((sum, file) => sum + linesOf(file), 0);
  const rest = sources.filter((file) => !added.includes(file));
  expect(sources.length - rest.length).toBe(added.length);
  expect(rest.length, 'files of src and adapters, without those added later').toBeLessThanOrEqual(mostFiles);
  expect(linesIn(rest), 'lines of src and adapters, without those added later').toBeLessThanOrEqual(mostLines);
  expect(linesIn(added), 'lines of what was added later').toBeLessThanOrEqual(mostLinesAdded);
});

/** Smallest files first: they may fit into the one that imports them. */
function bySize(run: readonly string[]): string {
  const sized = run.map((file) => ({ file, lines: linesOf(file) })).sort((a, b) => a.lines - b.lines);
  return sized.map(({ file, lines }) => `${String(lines).padStart(5)} ${file}`).join('\n');
}
