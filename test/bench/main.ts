/*
 * `npm run bench [-- --only NAME] [-- --json FILE] [-- --postgres URL]`: each scenario in a process of its own, with a deadline; ours and the
 * floor alive in one run and taking turns; ratios decide, absolute figures are for this machine. Exits with 1 when a
 * limit is broken. Scenarios of PostgreSQL start a server, or use the given one, as a superuser who may create schemas.
 *
 * `npm run bench:gate` measures only what `regressions.ts` lists, against bounds that a slow or busy machine keeps too: the best of
 * three runs counts. It fails when a path has become clearly slower than it was, and is part of what must hold before a change lands.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { outOfBounds, regressions } from './regressions.js';
import { scenarios } from './scenario-list.js';
import type { Measured } from './scenarios/store-slices.js';

const deadline = 60_000;
/** Of those that start other processes, and make big tables. */
const longDeadline = 180_000;
const built = 'node_modules/.cache/signalbox/bench';
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    json: { type: 'string' },
    inside: { type: 'string' },
    gate: { type: 'boolean', default: false },
    postgres: { type: 'string' },
  },
});

if (values.inside !== undefined) {
  const scenario = scenarios.find(({ name }) => name === values.inside);
  const rows = (await scenario?.run()) ?? [];
  writeFileSync(values.json as string, JSON.stringify(rows));
  process.exit(0);
}

const chosen = scenarios.filter(
  ({ name }) => (values.only === undefined || name.startsWith(values.only)) && (!values.gate || name in regressions),
);
if (chosen.length === 0) {
  console.error(`--only takes the beginning of one of: ${scenarios.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
await buildScenarios();
const server = chosen.some(({ name }) => name.startsWith('pg.')) ? await databaseServer(values.postgres) : undefined;
const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
const sync = medianSync();
console.log(
  `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, load ${loadavg()[0]?.toFixed(1)}, fsync ${sync.toFixed(0)} µs\n`,
);
let failed = false;
if (values.gate) {
  const broken = chosen.flatMap(({ name }) => gate(name));
  rmSync(folder, { recursive: true, force: true });
  server?.remove();
  process.exit(broken.length === 0 ? 0 : 1);
}
console.log(line(['scenario', 'ours', 'floor', 'unit', 'ratio', 'limit', '']));
const rows: (Measured & { readonly holds: boolean })[] = [];
for (const { name } of chosen) {
  for (const row of measure(name)) {
    const holds = row.ratio <= (row.limit.max ?? Number.POSITIVE_INFINITY) && row.ratio >= (row.limit.min ?? 0);
    failed ||= !holds;
    rows.push({ ...row, holds });
    const limit =
      row.limit.max === undefined ? (row.limit.min === undefined ? '' : `≥ ${row.limit.min}`) : `≤ ${row.limit.max}`;
    console.log(
      line([
        row.name,
        figure(row.ours),
        figure(row.floor),
        row.unit,
        row.ratio.toFixed(2),
        limit,
        holds ? '' : 'BROKEN',
      ]),
    );
  }
}
rmSync(folder, { recursive: true, force: true });
server?.remove();
if (values.json !== undefined) {
  writeFileSync(values.json, JSON.stringify({ node: process.versions.node, fsyncMicroseconds: sync, rows }, null, 2));
}
process.exit(failed ? 1 : 0);

/** The rows of a scenario that are out of their bounds in each of three runs; prints what was measured. */
function gate(scenario: string): readonly string[] {
  let broken: readonly string[] = Object.keys(regressions[scenario] ?? {});
  for (let run = 1; run <= 3 && broken.length > 0; run += 1) {
    const judged = outOfBounds(scenario, measure(scenario), broken);
    for (const text of judged.texts) console.log(`${text}${run === 1 ? '' : ` (run ${run})`}`);
    broken = judged.broken;
  }
  return broken;
}

function measure(name: string): Measured[] {
  const file = join(folder, `${name}.json`);
  const run = spawnSync(process.execPath, ['--expose-gc', join(built, 'main.js'), '--inside', name, '--json', file], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: name.startsWith('pg.') ? longDeadline : deadline,
    killSignal: 'SIGKILL',
    env: { ...process.env, ...(server === undefined ? {} : { SIGNALBOX_BENCH_POSTGRES: server.url }) },
  });
  if (run.status === 0) return JSON.parse(readFileSync(file, 'utf8')) as Measured[];
  failed = true;
  console.log(line([name, '', '', '', '', '', run.signal === null ? 'FAILED' : 'TOOK TOO LONG']));
  return [];
}

/** The PostgreSQL server that is given, or a new one with durable writes. */
async function databaseServer(url: string | undefined): Promise<{ readonly url: string; remove(): void }> {
  if (url !== undefined) return { url, remove: () => undefined };
  return (await import('../adapters/postgres/postgres-server.js')).postgresServer(['-c shared_buffers=256MB']);
}

/** Bundled like the published files: run straight from TypeScript, every closure would pay for keeping its name. */
async function buildScenarios(): Promise<void> {
  const sources = readdirSync('test/bench/scenarios').map((name) => `test/bench/scenarios/${name}`);
  await build({
    entryPoints: ['test/bench/main.ts', ...sources],
    outbase: 'test/bench',
    outdir: built,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
}

function line([name = '', ...cells]: readonly string[]): string {
  const widths = [12, 12, 14, 8, 8];
  return `${name.padEnd(38)}${cells.map((cell, at) => cell.padStart(widths[at] ?? 0)).join(' ')}`;
}

function figure(value: number | null): string {
  if (value === null) return '';
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
}

/** What one durable write costs on this disk, in microseconds: every durable row depends on it. */
function medianSync(): number {
  const file = openSync(join(folder, 'fsync'), 'w');
  const samples: number[] = [];
  for (let round = 0; round < 50; round += 1) {
    const start = process.hrtime.bigint();
    writeSync(file, 'x'.repeat(4096), 0);
    fsyncSync(file);
    samples.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  closeSync(file);
  return samples.sort((left, right) => left - right)[25] ?? 0;
}
