import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { JobInput } from '../../src/jobs/document/job-input.js';
import { endAll } from '../adapters/cli/cli-process.js';
import { eventually, type Installation, installation, pause, type Served } from '../support/installation.js';

/*
 * `signalbox serve` is killed again and again, while a service with a sticky disk gets one version after the other. Each version writes
 * its number into a file outside and into both folders that are carried over. In the end these must hold every number that the
 * file outside holds. `SIGNALBOX_DISK_KILLS=200` for a longer run.
 */
const asked = process.env['SIGNALBOX_DISK_KILLS'];
const kills = Number(asked ?? 12);
/** Milliseconds, when nothing is asked for. */
const budget = 20_000;

let installed: Installation | undefined;
afterEach(async () => {
  endAll();
  await installed?.remove();
});

test(`${kills} kills of a server lose nothing of a disk`, { timeout: 120_000 + kills * 15_000 }, async () => {
  installed = await installation();
  const service = new Service(installed);
  const begun = performance.now();
  for (let life = 0; life < kills; life += 1) {
    if (asked === undefined && life >= 4 && performance.now() - begun > budget) break;
    await service.live(life);
  }
  const { marks, diaries } = await service.end();
  if (asked !== undefined) console.info(`${marks.length} of ${service.versions} versions ran`);
  expect(marks.length).toBeGreaterThan(1);
  expect(diaries).toEqual([marks, marks]);
});

class Service {
  versions = 0;
  readonly #installed: Installation;
  readonly #marks: string;
  #served: Served | undefined;

  constructor(installed: Installation) {
    this.#installed = installed;
    this.#marks = join(installed.folder, 'numbers');
    writeFileSync(this.#marks, '');
  }

  /** Some versions, and a kill at another moment after the last of them each time. */
  async live(life: number): Promise<void> {
    const { child } = await this.#serve();
    const before = this.#numbers().length;
    await this.#change();
    // What the server before left under way goes on some time later: most lives wait for it.
    if (life % 3 > 0) await eventually(15_000, () => this.#numbers().length > before);
    if (life % 3 > 1) await this.#change();
    await pause((life * 13) % 120);
    child.process.kill('SIGKILL');
    this.#served = undefined;
    await child.ended;
  }

  /** What ran, and what the disk of the last version holds of it. */
  async end(): Promise<{ readonly marks: readonly number[]; readonly diaries: readonly (readonly number[])[] }> {
    await this.#serve();
    await this.#change();
    const isOver = (): boolean => this.#numbers().at(-1) === this.versions && this.#diaries().length === 2;
    if (!(await eventually(60_000, isOver))) throw new Error('the last version never ran');
    return { marks: this.#numbers(), diaries: this.#diaries() };
  }

  async #serve(): Promise<Served> {
    this.#served ??= await this.#installed.serve();
    return this.#served;
  }

  async #change(): Promise<void> {
    const { box } = await this.#serve();
    this.versions += 1;
    (await box.jobs.register(version(this.versions, this.#marks)))._unsafeUnwrap();
  }

  #lines(): readonly (readonly string[])[] {
    return readFileSync(this.#marks, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' '));
  }

  #numbers(): readonly number[] {
    return distinct(this.#lines().map(([number]) => Number(number)));
  }

  /** Of the last version; without those that it has not written to yet. */
  #diaries(): readonly (readonly number[])[] {
    const [, shared = '', local = ''] = this.#lines().at(-1) ?? [];
    return [join(shared, 'data', 'diary'), join(local, 'diary')].flatMap((file) => {
      const written = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
      return written.at(-1) === this.versions ? [distinct(written)] : [];
    });
  }
}

/** A task that is started again writes its number again. */
function distinct(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)];
}

/** Ends when it is asked to, but only after all of its writes. */
const task = [
  'trap over=1 INT',
  'echo "$NUMBER $NOMAD_ALLOC_DIR $NOMAD_TASK_DIR" >> "$MARKS"',
  'for folder in "$NOMAD_ALLOC_DIR/data" "$NOMAD_TASK_DIR"; do echo "$NUMBER" >> "$folder/diary"; done',
  'until [ "$over" = 1 ]; do sleep 0.05; done',
].join('; ');

function version(number: number, marks: string): JobInput {
  const main = {
    Name: 'main',
    Driver: 'raw_exec',
    Config: { command: '/bin/sh', args: ['-c', task] },
    Env: { NUMBER: String(number), MARKS: marks },
    Resources: { CPU: 1, MemoryMB: 10 },
    LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
  };
  const group = { Name: 'app', EphemeralDisk: { SizeMB: 10, Sticky: true }, Tasks: [main] };
  return { ID: 'diary', Datacenters: ['*'], TaskGroups: [group] };
}
