import { expect, test } from 'vitest';
import {
  flaky,
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../src/index.js';
import type { JobInput } from '../../src/jobs/document/job-input.js';
import { jobs } from '../../src/jobs/job-record.js';
import { jobSummaries } from '../../src/jobs/status/job-summary.js';
import { dispatchJob } from '../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../src/operations/jobs/registration/register-job.js';
import { listNodeWork } from '../../src/operations/scheduling/list-node-work.js';
import { heartbeatNode, registerNode } from '../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../src/operations/scheduling/report-allocations.js';
import type { Storage } from '../../src/ports/storage.js';
import { blockedRequirements } from '../../src/scheduler/blocked/blocked-requirement.js';
import { nodeUsages } from '../../src/scheduler/node-tables.js';
import { day, hour, second } from '../../src/shared/duration.js';
import { nodeFrom } from '../support/nodes.js';

/*
 * Every dispatched run runs exactly once, while engines are killed and come back after seconds or a day, two of them work on one store,
 * the store fails for moments, and the wall clock is set. Each seed is another story; `SIGNALBOX_RUNS_SEEDS=1000` plays so many, from
 * `SIGNALBOX_RUNS_FIRST` on.
 */
const seeds = Number(process.env['SIGNALBOX_RUNS_SEEDS'] ?? 6);
const firstSeed = Number(process.env['SIGNALBOX_RUNS_FIRST'] ?? 1);

test(`runs happen once, ${seeds} stories`, { timeout: 60_000 + seeds * 5000 }, async () => {
  const broken: string[] = [];
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    const faults = await new Story(seed).play();
    if (faults.length > 0) broken.push(`seed ${seed}: ${faults.slice(0, 3).join('; ')}`);
  }
  expect(broken).toEqual([]);
});

/** An engine, and its way to the store, which may be cut for a while or for ever. */
interface Process {
  readonly engine: Engine;
  readonly link: { cut: boolean };
}

class Story {
  readonly #clock: ManualClock = manualClock();
  readonly #storage: Storage = memoryStorage();
  readonly #ids = sequentialIds();
  readonly #agents = ['n1', 'n2'].map((id) => new Agent(id));
  readonly #random: () => number;
  readonly #dispatched: string[] = [];
  #processes: Process[] = [];

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  async play(): Promise<readonly string[]> {
    this.#start();
    await this.#tick(1);
    const group = {
      Name: 'app',
      Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: 'x' }, Resources: { CPU: 300 } }],
    };
    const job: JobInput = { ID: 'work', Type: 'batch', Datacenters: ['*'], ParameterizedJob: {}, TaskGroups: [group] };
    (await registerJob(this.#engine(), hostPrincipal, { job }))._unsafeUnwrap();
    for (let step = 0; step < 15; step += 1) await this.#step();
    for (const { link } of this.#processes) link.cut = false;
    await this.#tick(200);
    const faults = await this.#faults();
    for (const { engine } of this.#processes) await engine.stop({ deadline: 1000 });
    return faults;
  }

  async #step(): Promise<void> {
    const kind = Math.floor(this.#random() * 6);
    if (kind === 0) await this.#clock.step(this.#random() < 0.5 ? hour : -hour);
    else if (kind === 1) await this.#downtime();
    else if (kind === 2) await this.#outage();
    else if (kind === 3 && this.#processes.length < 2) this.#start();
    else await this.#dispatch(1 + Math.floor(this.#random() * 5));
    await this.#tick(1 + Math.floor(this.#random() * 8));
  }

  /** All engines die; the nodes go on with what they run. */
  async #downtime(): Promise<void> {
    for (const { engine, link } of this.#processes) {
      // Cut off first: what it was at stays as a kill leaves it.
      link.cut = true;
      await engine.stop({ deadline: 1000 });
    }
    this.#processes = [];
    const spans = [5 * second, 36 * second, hour, day];
    await this.#clock.advance(spans[Math.floor(this.#random() * spans.length)] ?? 0);
    for (const agent of this.#agents) agent.work(this.#clock.monotonic());
    this.#start();
  }

  async #outage(): Promise<void> {
    for (const { link } of this.#processes) link.cut = true;
    await this.#tick(1 + Math.floor(this.#random() * 4));
    for (const { link } of this.#processes) link.cut = false;
  }

  async #dispatch(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const dispatched = await dispatchJob(this.#engine(), hostPrincipal, { jobId: 'work' });
      if (dispatched.isOk()) this.#dispatched.push(dispatched.value.dispatchedJobId);
    }
  }

  /** Seconds in which the nodes do what they are told. */
  async #tick(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 1) {
      for (const agent of this.#agents) await agent.visit(this.#engine(), this.#clock.monotonic());
      await this.#clock.advance(second);
    }
  }

  #engine(): Engine {
    return (this.#processes[Math.floor(this.#random() * this.#processes.length)] as Process).engine;
  }

  #start(): void {
    const link = { cut: false };
    const error = { type: 'storage_failed', reason: 'io', message: 'cut off' } as const;
    const calls = (): boolean => link.cut;
    const storage = flaky(this.#storage, { read: { calls, error }, write: { calls, error } });
    const engine = createEngine({ storage, clock: this.#clock, ids: this.#ids, delivery: recordingDelivery() });
    engine.start();
    this.#processes.push({ engine, link });
  }

  async #faults(): Promise<string[]> {
    const started = new Map<string, number>();
    for (const job of this.#agents.flatMap((agent) => agent.started)) started.set(job, (started.get(job) ?? 0) + 1);
    const rows = (
      await this.#storage.read((view) => ({
        waiting: view.list(blockedRequirements).length,
        used: view.list(nodeUsages).filter(({ record }) => record.cpu !== 0).length,
        status: new Map(view.list(jobs).map(({ record }) => [record.ID, record.Status])),
        children: view.get(jobSummaries, ['default', 'work'])?.record.Children,
      }))
    )._unsafeUnwrap();
    const expected = JSON.stringify({ Pending: 0, Running: 0, Dead: this.#dispatched.length });
    return [
      ...this.#dispatched.filter((id) => started.get(id) !== 1).map((id) => `${id} ran ${started.get(id) ?? 0} times`),
      ...this.#dispatched.filter((id) => rows.status.get(id) !== 'dead').map((id) => `${id} is ${rows.status.get(id)}`),
      ...(rows.waiting === 0 ? [] : [`${rows.waiting} asks are left`]),
      ...(rows.used === 0 ? [] : ['capacity is taken by nobody']),
      ...(JSON.stringify(rows.children) === expected
        ? []
        : [`children: ${JSON.stringify(rows.children)}, not ${expected}`]),
    ];
  }
}

/** What a node's agent does, as little as it takes: it starts what is new, and ends it after some seconds. */
class Agent {
  /** The job of each task that was started. */
  readonly started: string[] = [];
  readonly #ends = new Map<string, number>();
  readonly #ended = new Set<string>();
  #heard = Number.NEGATIVE_INFINITY;

  constructor(readonly id: string) {}

  /** Tasks end, whether a server is there or not. */
  work(now: number): void {
    for (const [allocation, end] of this.#ends) if (end <= now) this.#ended.add(allocation);
  }

  async visit(engine: Engine, now: number): Promise<void> {
    this.work(now);
    if (now - this.#heard >= 8 * second && !(await this.#beat(engine))) return;
    if (now - this.#heard >= 8 * second) this.#heard = now;
    const listed = await listNodeWork(engine, { nodeId: this.id });
    if (listed.isErr()) return;
    for (const { allocation } of listed.value.value.work) {
      if (allocation.DesiredStatus !== 'run' || this.#ends.has(allocation.ID)) continue;
      this.started.push(allocation.JobID);
      this.#ends.set(allocation.ID, now + (2 + (this.started.length % 5)) * second);
    }
    const reports = listed.value.value.work
      .filter(({ allocation }) => this.#ends.has(allocation.ID))
      .map(({ allocation: { ID } }) => ({
        allocationId: ID,
        clientStatus: this.#ended.has(ID) ? ('complete' as const) : ('running' as const),
        clientDescription: '',
        taskStates: {},
      }));
    // What could not be told is told again at the next visit.
    await reportAllocations(engine, hostPrincipal, { nodeId: this.id, reports });
  }

  async #beat(engine: Engine): Promise<boolean> {
    if ((await heartbeatNode(engine, hostPrincipal, this.id)).isOk()) return true;
    return (await registerNode(engine, hostPrincipal, nodeFrom(this.id))).isOk();
  }
}

/** A small generator of numbers in [0, 1): the same ones for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
