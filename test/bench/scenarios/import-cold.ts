import { spawnSync } from 'node:child_process';
import type { Measured } from './store-slices.js';

const rounds = 15;

/** What `import 'signalbox'` adds to the start of an empty process, built as it is published. */
export async function run(): Promise<Measured[]> {
  const empty: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < rounds + 1; round += 1) {
    const pair = [start(''), start("await import('signalbox')")];
    if (round === 0) continue;
    empty.push(pair[0] as number);
    ours.push(pair[1] as number);
  }
  const beyond = median(ours.map((time, at) => time - (empty[at] as number)));
  const share = median(ours.map((time, at) => time / (empty[at] as number) - 1));
  const figures = { ours: beyond, floor: median(empty), unit: 'ms' };
  return [
    { name: 'import.cold, beyond an empty process', ...figures, ratio: beyond, limit: { max: 25 } },
    // For comparing machines: an empty process takes from 40 ms to more than twice that.
    { name: 'import.cold, as a share of that process', ...figures, ratio: share, limit: {} },
  ];
}

/** Processor time of a process that does this, in milliseconds: steadier than the clock on the wall. */
function start(program: string): number {
  const report = 'console.log(process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000)';
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', `${program};${report}`], { encoding: 'utf8' });
  return Number(run.stdout.trim());
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}
