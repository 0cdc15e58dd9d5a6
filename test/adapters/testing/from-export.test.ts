import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../adapters/cli/run-command.js';
import { readTextFile } from '../../../adapters/cli/terminal.js';
import { manualClock } from '../../../adapters/memory/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { testEngine } from '../../../adapters/testing/index.js';
import { type Engine, hostPrincipal, orThrow } from '../../../src/index.js';
import type { Storage } from '../../../src/ports/index.js';
import type { AllocationListStub } from '../../../src/scheduler/index.js';
import { minute, second } from '../../../src/shared/duration.js';
import { group } from '../../operations/jobs/world.js';
import { fakeCluster } from '../../support/fake-agents.js';

/** A store that an installation worked with becomes the start of a test. */

const folder = mkdtempSync(join(tmpdir(), 'signalbox-export-'));
const store = join(folder, 'store.sqlite');
const file = join(folder, 'incident.jsonl');
let storage: Storage;

const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } };
const service = (id: string, more: object = {}, count = 2): never =>
  ({ ID: id, Type: 'service', Datacenters: ['*'], TaskGroups: [group({ Count: count, ...more })] }) as never;
const huge = { Tasks: [{ ...task, Resources: { CPU: 1_000_000 } }] };

beforeAll(async () => {
  storage = (await sqliteStorage(store))._unsafeUnwrap();
  const clock = manualClock();
  // Time stands still while the file is written.
  await using cluster = fakeCluster({ storage: clock.holding(storage, ['read', 'write']), clock });
  const box = cluster.engine.as(hostPrincipal);
  await cluster.addNode('n1');
  await cluster.addNode('n2');
  await orThrow(box.jobs.register(service('web')));
  await orThrow(box.jobs.register(service('huge', huge, 1)));
  await orThrow(box.jobs.register({ ...(service('work') as object), Type: 'batch', ParameterizedJob: {} } as never));
  await cluster.clock.advance(minute);
  // The server goes on while the store is read.
  expect(await command('--store', `sqlite:${store}`, '--out', file)).toMatchObject({ code: 0, out: '' });
});
afterAll(async () => {
  await storage.close();
  rmSync(folder, { recursive: true });
});

async function command(...words: readonly string[]) {
  let out = '';
  let error = '';
  const terminal = {
    ...{ environment: {}, isTerminal: false, colours: false, input: async () => '', readFile: readTextFile },
    out: (text: string) => {
      out += text;
    },
    error: (text: string) => {
      error += text;
    },
  };
  const code = await runCommand(['export', ...words], terminal as never);
  return { code, out, error };
}

async function allocationsOf(engine: Engine, job: string): Promise<readonly AllocationListStub[]> {
  return (await orThrow(engine.as(hostPrincipal).jobs.allocations(job))).value ?? [];
}

const running = (all: readonly AllocationListStub[]) => all.filter(({ ClientStatus }) => ClientStatus === 'running');

describe('testEngine({ from })', () => {
  it('goes on from what the store held', async () => {
    await using own = await testEngine({ from: file });
    const before = await allocationsOf(own.engine, 'web');
    expect(new Set(running(before).map(({ NodeID }) => NodeID))).toEqual(new Set(['n1', 'n2']));
    await own.advance(10 * minute);
    expect(await allocationsOf(own.engine, 'web')).toEqual(before);
    const nodes = orThrow(await own.engine.as(hostPrincipal).nodes.list()).value.items;
    expect(nodes.map(({ ID, Status }) => [ID, Status])).toEqual([
      ['n1', 'ready'],
      ['n2', 'ready'],
    ]);
    const evaluations = orThrow(await own.engine.as(hostPrincipal).jobs.evaluations('huge')).value ?? [];
    expect(evaluations.map(({ Status }) => Status)).toContain('blocked');
  });

  it('begins at the moment of the export', async () => {
    await using own = await testEngine({ from: pathToFileURL(file) });
    const [header = ''] = readFileSync(file, 'utf8').split('\n');
    expect(own.clock.now()).toBe(Date.parse(JSON.parse(header).at));
  });

  it('a node that falls silent loses its work to the other one, and comes back', async () => {
    await using own = await testEngine({ from: file });
    own.agents.silence('n1');
    await own.advance(2 * minute);
    expect(running(await allocationsOf(own.engine, 'web')).map(({ NodeID }) => NodeID)).toEqual(['n2', 'n2']);
    own.agents.silence('n1', false);
    await own.advance(minute);
    const nodes = orThrow(await own.engine.as(hostPrincipal).nodes.list()).value.items;
    expect(nodes.map(({ Status }) => Status)).toEqual(['ready', 'ready']);
  });

  it('tasks do what the test says', async () => {
    await using own = await testEngine({
      from: file,
      behaviour: ({ JobID }) => (JobID.startsWith('work') ? { ends: 'complete', after: 20 * second } : {}),
    });
    const box = own.engine.as(hostPrincipal);
    const { dispatchedJobId: id } = orThrow(await box.jobs.dispatch('work'));
    await own.advance(10 * second);
    expect((await allocationsOf(own.engine, id)).map(({ ClientStatus }) => ClientStatus)).toEqual([
      'running',
      'running',
    ]);
    await own.advance(20 * second);
    const ended = await allocationsOf(own.engine, id);
    expect(ended.map(({ ClientStatus }) => ClientStatus)).toEqual(['complete', 'complete']);
    const times = ended.map(({ TaskStates }) => TaskStates?.['t']);
    expect(times.map((of) => Date.parse(of?.FinishedAt ?? '') - Date.parse(of?.StartedAt ?? ''))).toEqual([
      ...[20 * second, 20 * second],
    ]);
    const { index } = orThrow(await storage.read(({ index: last }) => ({ index: last })));
    expect(Math.min(...ended.map(({ CreateIndex }) => CreateIndex))).toBeGreaterThan(index);
  });

  it('an update goes through as it would have gone', async () => {
    await using own = await testEngine({ from: file });
    const changed = service('web', { Tasks: [{ ...task, Env: { A: 'b' } }] });
    orThrow(await own.engine.as(hostPrincipal).jobs.register(changed));
    await own.advance(5 * minute);
    expect(running(await allocationsOf(own.engine, 'web')).map(({ JobVersion }) => JobVersion)).toEqual([1, 1]);
  });

  it('a text that is cut off is refused with the line', async () => {
    const cut = join(folder, 'cut.jsonl');
    writeFileSync(cut, readFileSync(file, 'utf8').slice(0, -30));
    await expect(testEngine({ from: cut })).rejects.toThrow(/cut\.jsonl, line \d+: /);
  });
});

describe('signalbox export', () => {
  it('prints what it writes to a file', async () => {
    const printed = await command('-store', `sqlite:${store}`);
    expect([printed.code, printed.error]).toEqual([0, '']);
    const [, ...lines] = printed.out.split('\n');
    expect(lines.at(-2)).toMatch(/^\{"rows":\d+\}$/);
  });

  it('makes a file for its owner, and leaves nothing beside it', () => {
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.includes('.new'))).toEqual([]);
  });

  it.each([
    [
      ['--store', 'memory'],
      2,
      'a store in memory is accessible only to its server: name a store in a file with --store sqlite:PATH',
    ],
    [['--store', 'sqlite:/none/such'], 1, 'there is no store at /none/such'],
    [['--store', 'x'], 2, '--store'],
    [['--out'], 2, '--out takes the name of a file'],
    [['--output=x'], 2, 'unknown option --output'],
  ])('%j is refused', async (words, code, message) => {
    const refused = await command(...words).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code, error: expect.stringContaining(message) });
  });

  it('a file that cannot be written is told of, and nothing is left', async () => {
    const refused = await command('--store', `sqlite:${store}`, '--out', join(folder, 'none', 'x'));
    expect(refused).toMatchObject({ code: 1, error: expect.stringMatching(/cannot be written: ENOENT/) });
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  it('a store that is none is told of', async () => {
    const path = join(folder, 'text');
    writeFileSync(path, 'no database');
    const refused = await command('--store', `sqlite:${path}`);
    expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('the store cannot be opened') });
    expect(readFileSync(path, 'utf8')).toBe('no database');
  });
});
