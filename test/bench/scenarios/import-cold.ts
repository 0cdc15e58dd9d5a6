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
  // A share of an empty process, as that takes 40 ms on a quiet machine and twice as long on a busy one: 25 ms of 40.
  const ratio = median(ours.map((time, at) => time / (empty[at] as number) - 1));
  return [
    {
      name: 'import.cold, beyond an empty process',
      ours: beyond,
      floor: median(empty),
      unit: 'ms',
      ratio,
      limit: { max: 0.625 },
    },
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
