import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { eventually, type Installation, installation } from '../../support/installation.js';
import { patience } from '../../support/patience.js';
import { endAll } from '../cli/cli-process.js';

let installed: Installation | undefined;
afterEach(async () => {
  endAll();
  await installed?.remove();
});

const half = 250_000;
const all = 600_000;

it('the output of a task is kept, cut and rotated while its runner is dead, and is the same afterwards', async () => {
  installed = await installation();
  const { child, box } = await installed.serve();
  const mark = (name: string): string => join(installed?.folder ?? '', name);
  const text = `seq 1 ${half}; touch '${mark('half')}'; while [ ! -e '${mark('go')}' ]; do sleep 0.02; done; seq ${half + 1} ${all}; touch '${mark('done')}'`;
  const task = { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/sh', args: ['-c', text] } };
  const LogConfig = { MaxFiles: 2, MaxFileSizeMB: 1 };
  const group = { Name: 'app', Tasks: [{ ...task, LogConfig, Resources: { CPU: 10, MemoryMB: 10 } }] };
  (await box.jobs.register({ ID: 'loud', Type: 'batch', Datacenters: ['*'], TaskGroups: [group] }))._unsafeUnwrap();
  expect(await eventually(patience, () => existsSync(mark('half')))).toBe(true);
  const range = async (client: typeof box, from: number, limit: number) => {
    const found = (await client.jobs.allocations('loud'))._unsafeUnwrap().value[0]?.ID ?? '';
    const { data, ...rest } = (
      await client.files.readLog(found, { task: 'main', type: 'stdout', from, limit })
    )._unsafeUnwrap();
    return { ...rest, text: Buffer.from(data, 'base64').toString() };
  };
  const early = await range(box, 1_200_000, 100);
  child.process.kill('SIGKILL');
  await child.ended;
  const [id = ''] = readdirSync(join(`${installed.store}-allocations`, 'allocations'));
  const logs = join(`${installed.store}-allocations`, 'allocations', id, 'alloc', 'logs');
  const files = (): string[] =>
    readdirSync(logs)
      .filter((name) => name.startsWith('main.stdout.'))
      .sort((left, right) => Number(left.split('.')[2]) - Number(right.split('.')[2]));
  const kept = (): string =>
    files()
      .map((name) => readFileSync(join(logs, name), 'utf8'))
      .join('');
  const before = files().at(-1);
  writeFileSync(mark('go'), '');
  expect(await eventually(patience, () => existsSync(mark('done')))).toBe(true);
  const whole = Array.from({ length: all }, (_, at) => `${at + 1}\n`).join('');
  // The collector has up to a pipe's content to write when the task ends.
  expect(await eventually(patience, () => kept().endsWith(`\n${all}\n`))).toBe(true);
  const names = files();
  expect(Number(names.at(-1)?.split('.')[2])).toBeGreaterThan(Number(before?.split('.')[2]));
  expect(names.length).toBeLessThanOrEqual(LogConfig.MaxFiles);
  // All removed files were full, so the number of the first one tells what they held.
  const expected = whole.slice(Number(names[0]?.split('.')[2]) * LogConfig.MaxFileSizeMB * 1024 * 1024);
  expect(kept() === expected).toBe(true);
  const again = await installed.serve();
  const complete = async (): Promise<boolean> =>
    (await again.box.jobs.allocations('loud'))._unsafeUnwrap().value[0]?.ClientStatus === 'complete';
  expect(await eventually(patience, complete)).toBe(true);
  expect(kept() === expected).toBe(true);
  // Positions are those of the whole output, before and after.
  expect(early).toMatchObject({ from: 1_200_000, text: whole.slice(1_200_000, 1_200_100), hasEnded: false });
  const firstByte = whole.length - expected.length;
  const gone = await range(again.box, 1_200_000, 100);
  expect(gone).toEqual({
    firstByte,
    endByte: whole.length,
    files: 2,
    from: firstByte,
    to: firstByte,
    hasEnded: true,
    text: '',
  });
  const late = whole.length - 200_000;
  expect((await range(again.box, late, 300)).text).toBe(whole.slice(late, late + 300));
}, 90_000);

it('a command whose shell is killed while its runner is dead has ended before it is started again', async () => {
  installed = await installation();
  const { child, box } = await installed.serve();
  const pidFile = join(installed.folder, 'pid');
  const outcome = join(installed.folder, 'outcome');
  // Its first start says who it is, and the next one whether that process is still there.
  const text = [
    `if [ ! -s '${pidFile}' ]; then echo $$ > '${pidFile}'; exec sleep 300; fi`,
    `if read -r stat 2>/dev/null < "/proc/$(cat '${pidFile}')/stat"; then case $stat in *") Z "*) s=alone ;; *) s=beside ;; esac`,
    `else s=alone; fi; echo $s > '${outcome}'`,
  ].join('\n');
  const task = { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/sh', args: ['-c', text] } };
  const group = {
    Name: 'app',
    RestartPolicy: { Attempts: 1, Interval: 60e9, Delay: 0, Mode: 'fail' as const },
    Tasks: [{ ...task, Resources: { CPU: 10, MemoryMB: 10 } }],
  };
  (await box.jobs.register({ ID: 'twice', Type: 'batch', Datacenters: ['*'], TaskGroups: [group] }))._unsafeUnwrap();
  expect(await eventually(patience, () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '')).toBe(true);
  child.process.kill('SIGKILL');
  await child.ended;
  const [id = ''] = readdirSync(join(`${installed.store}-allocations`, 'allocations'));
  const attempt = join(`${installed.store}-allocations`, 'allocations', id, 'main', 'private', 'attempts', '1');
  const [shell] = readFileSync(join(attempt, 'process'), 'utf8').split('\n').map(Number);
  const command = Number(readFileSync(pidFile, 'utf8'));
  expect(shell).not.toBe(command);
  process.kill(shell ?? Number.NaN, 'SIGKILL');
  // It lives on without its shell, and nobody ends it meanwhile.
  process.kill(command, 0);
  await installed.serve();
  expect(await eventually(patience, () => existsSync(outcome) && readFileSync(outcome, 'utf8') !== '')).toBe(true);
  expect(readFileSync(outcome, 'utf8')).toBe('alone\n');
}, 90_000);
