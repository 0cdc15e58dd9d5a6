import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

/*
 * Whole installations on virtual time, at random. Each seed is another story; `SIGNALBOX_SIMULATION_SEEDS=10000` plays so many,
 * from `SIGNALBOX_SIMULATION_FIRST` on, on all processors. A story that breaks prints its steps. They are played by bundled code in
 * processes of their own, which takes a third of the time.
 */
const seeds = Number(process.env['SIGNALBOX_SIMULATION_SEEDS'] ?? 200);
const firstSeed = Number(process.env['SIGNALBOX_SIMULATION_FIRST'] ?? 1);
const players = availableParallelism();
const folder = mkdtempSync(join(tmpdir(), 'signalbox-stories-'));
const program = join(folder, 'play-stories.mjs');

beforeAll(async () => {
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  await build({
    entryPoints: [join(import.meta.dirname, 'play-stories.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every so manieth story; gives the lines that the process printed. */
function play(first: number): Promise<readonly string[]> {
  const range = [first, firstSeed + seeds, players].map(String);
  const child = spawn(process.execPath, [program, ...range], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return new Promise((resolve) => child.once('close', () => resolve(printed.trimEnd().split('\n'))));
}

test(`what must always hold, ${seeds} stories`, { timeout: 60_000 + seeds * 5000 }, async () => {
  const lines = (await Promise.all(Array.from({ length: players }, (_, at) => play(firstSeed + at)))).flat();
  const broken = lines
    .filter((line) => line !== 'played')
    .map((line) => (line.startsWith('"') ? JSON.parse(line) : line));
  expect(broken.join('\n')).toBe('');
  expect(lines.filter((line) => line === 'played')).toHaveLength(players);
});
