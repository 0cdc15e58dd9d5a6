import assert from 'node:assert/strict';
import { okAsync, type ResultAsync } from 'neverthrow';
import type { CommandOutput, NodeCommand } from '../../../src/agent/link/node-command.js';
import type { AgentProcess, AllocationReport, NodeDescription } from '../../../src/agent/link/node-work.js';
import { type Engine, hostPrincipal } from '../../../src/index.js';
import { readAllocationStats } from '../../../src/operations/allocations/steer-allocation.js';
import { stopAllocation } from '../../../src/operations/allocations/stop-allocation.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { putVariable } from '../../../src/operations/variables/write-variable.js';
import type { AgentLink } from '../../../src/ports/agent-link.js';
import { allocations, pendingTask } from '../../../src/scheduler/allocation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { type Instant, isoFromInstant } from '../../../src/shared/instant.js';
import type { TestFunction } from '../storage/index.js';

export interface AgentLinkSubject {
  /** A running engine and an agent's link to it, new for each test. */
  open(): Promise<OpenedLink>;
}

export interface OpenedLink {
  readonly engine: Engine;
  readonly link: AgentLink;
  /** The description of a node to register over the link. */
  readonly node: NodeDescription;
  close(): Promise<void>;
}

type Case = (opened: OpenedLink) => Promise<void>;

const never = new AbortController().signal;

/** What an agent requires of its link, and a server of the calls over it. */
export function agentLinkConformance(test: TestFunction, subject: AgentLinkSubject): void {
  for (const [name, run] of Object.entries(cases)) {
    test(name, async () => {
      const opened = await subject.open();
      try {
        await run(opened);
      } finally {
        await opened.close();
      }
    });
  }
}

const cases: Readonly<Record<string, Case>> = {
  'a node that registers is ready, and may register again': async ({ engine, link, node }) => {
    const first = (await link.register(node))._unsafeUnwrap();
    assert.ok(first.heartbeatTtl > 0 && first.index > 0);
    const again = (await link.register({ ...node, Meta: { rack: 'r1' } }))._unsafeUnwrap();
    assert.ok(again.index >= first.index);
    const stored = (await engine.storage.read((view) => view.get(nodes, [node.ID])?.record))._unsafeUnwrap();
    assert.equal(stored?.Status, 'ready');
    assert.deepEqual(stored?.Meta, { rack: 'r1' });
  },

  'heartbeats of a registered node succeed; an unknown node must register': async ({ link, node }) => {
    assert.deepEqual((await link.heartbeat(node.ID)).isErr(), true);
    (await link.register(node))._unsafeUnwrap();
    assert.ok((await link.heartbeat(node.ID))._unsafeUnwrap().heartbeatTtl > 0);
  },

  'a node has one agent: other agents are refused while it is alive, and their calls return unknown node': async (
    opened,
  ) => {
    const { engine, link, node } = opened;
    const [first, other] = [process('1', 'a'), process('2', 'b')];
    (await link.register(node, first))._unsafeUnwrap();
    for (const refused of [other, process('3'), undefined]) {
      assert.equal((await link.register(node, refused))._unsafeUnwrapErr().type, 'node_taken');
      const instance = refused?.instance;
      const { ID: nodeId } = node;
      const query = { allocationId: nodeId, task: 't', variables: [], prefixes: [], known: null };
      const calls = [
        link.heartbeat(nodeId, instance),
        link.work({ nodeId, after: 0, instance }, never),
        link.variables({ nodeId, instance, ...query }, never),
        link.report({ nodeId, reports: [], instance }),
        link.leave(nodeId, instance),
      ];
      for (const call of calls) assert.equal((await call)._unsafeUnwrapErr().type, 'node_not_found');
    }
    (await link.heartbeat(node.ID, first.instance))._unsafeUnwrap();
    (await link.register(node, first))._unsafeUnwrap();
    const stored = (await engine.storage.read((view) => view.get(nodes, [node.ID])?.record))._unsafeUnwrap();
    assert.equal(stored?.Status, 'ready');
  },

  'the next process with the same folder takes over immediately, and the previous one becomes unknown': async (
    opened,
  ) => {
    const { link, node } = opened;
    const [first, next] = [process('1', 'a'), process('2', 'a')];
    (await link.register(node, first))._unsafeUnwrap();
    const { index } = (await link.work({ nodeId: node.ID, after: 0, instance: first.instance }, never))._unsafeUnwrap();
    const waiting = link.work({ nodeId: node.ID, after: index, instance: first.instance }, AbortSignal.timeout(60_000));
    (await link.register(node, next))._unsafeUnwrap();
    assert.equal((await waiting)._unsafeUnwrapErr().type, 'node_not_found');
    assert.equal((await link.heartbeat(node.ID, first.instance))._unsafeUnwrapErr().type, 'node_not_found');
    (await link.heartbeat(node.ID, next.instance))._unsafeUnwrap();
  },

  'a node that is down can get another agent': async ({ link, node }) => {
    const [first, other] = [process('1', 'a'), process('2', 'b')];
    (await link.register(node, first))._unsafeUnwrap();
    (await link.leave(node.ID, first.instance))._unsafeUnwrap();
    (await link.register(node, other))._unsafeUnwrap();
    assert.equal((await link.register(node, first))._unsafeUnwrapErr().type, 'node_taken');
  },

  'the first answer contains all work, later answers the changes, and a repeated query returns the same': async (
    opened,
  ) => {
    const { link, node } = opened;
    const { id, list } = await placed(opened);
    assert.equal(list.complete, true);
    assert.equal(list.work[0]?.job?.ID, 'work');
    const same = (await link.work({ nodeId: node.ID, after: 0 }, never))._unsafeUnwrap();
    assert.deepEqual(same.work, list.work);
    const waiting = link.work({ nodeId: node.ID, after: same.index }, never);
    await stopJob(opened.engine, hostPrincipal, { jobId: 'work' });
    let changed = (await waiting)._unsafeUnwrap();
    // An answer without a change may arrive at any time.
    while (changed.work.length === 0) {
      changed = (await link.work({ nodeId: node.ID, after: changed.index }, never))._unsafeUnwrap();
    }
    assert.equal(changed.complete, false);
    assert.deepEqual(
      changed.work.map(({ allocation }) => [allocation.ID, allocation.DesiredStatus]),
      [[id, 'stop']],
    );
  },

  'a replacement names its previous allocation': async (opened) => {
    const { engine, link, node } = opened;
    const { id, list } = await placed(opened);
    (await stopAllocation(engine, hostPrincipal, { allocationId: id }))._unsafeUnwrap();
    for (let { index: after } = list; ; ) {
      const changed = (await link.work({ nodeId: node.ID, after }, AbortSignal.timeout(60_000)))._unsafeUnwrap();
      // The request to stop changes the first allocation, and arrives before or with its replacement.
      const replacement = changed.work.find(({ allocation }) => allocation.ID !== id)?.allocation;
      if (replacement !== undefined) return assert.equal(replacement.PreviousAllocation, id);
      after = changed.index;
    }
  },

  'a query for work ends when its signal aborts': async (opened) => {
    const { list } = await placed(opened);
    const leaving = new AbortController();
    const waiting = opened.link.work({ nodeId: opened.node.ID, after: list.index }, leaving.signal);
    leaving.abort();
    await waiting;
  },

  'repeated reports are stored once, and reported allocations of other nodes are returned as unknown': async (
    opened,
  ) => {
    const { engine, link, node } = opened;
    const { id } = await placed(opened);
    const running = reportOf(id, 'running', engine.clock.now());
    const foreign = reportOf('00000000-0000-4000-8000-0000000000ff', 'running', engine.clock.now());
    for (let time = 0; time < 2; time += 1) {
      const told = (await link.report({ nodeId: node.ID, reports: [running, foreign] }))._unsafeUnwrap();
      assert.deepEqual(told.unknown, [foreign.allocationId]);
    }
    const kept = await allocationIn(engine, id);
    assert.equal(kept?.ClientStatus, 'running');
    assert.deepEqual(kept?.TaskStates, running.taskStates);
    const over = { ...reportOf(id, 'complete', engine.clock.now()), healthy: null };
    (await link.report({ nodeId: node.ID, reports: [over], ended: [] }))._unsafeUnwrap();
    assert.equal((await allocationIn(engine, id))?.ClientStatus, 'complete');
  },

  'reports of an unknown node are refused': async ({ link, node }) => {
    const told = await link.report({ nodeId: node.ID, reports: [] });
    assert.deepEqual(told._unsafeUnwrapErr().type === 'link_failed', false);
  },

  'a node that leaves is down immediately': async ({ engine, link, node }) => {
    (await link.register(node))._unsafeUnwrap();
    (await link.leave(node.ID))._unsafeUnwrap();
    const stored = (await engine.storage.read((view) => view.get(nodes, [node.ID])?.record))._unsafeUnwrap();
    assert.equal(stored?.Status, 'down');
    assert.equal((await link.heartbeat(node.ID))._unsafeUnwrapErr().type, 'node_not_found');
  },

  'returns only variables that the task may read, and waits for their changes': async (opened) => {
    const { engine, link, node } = opened;
    const { id } = await placed(opened);
    const own = { path: 'nomad/jobs/work', items: { colour: 'red' } };
    (await putVariable(engine, hostPrincipal, own))._unsafeUnwrap();
    (await putVariable(engine, hostPrincipal, { path: 'secret', items: { k: 'v' } }))._unsafeUnwrap();
    const query = {
      nodeId: node.ID,
      allocationId: id,
      task: 't',
      variables: [{ path: own.path }, { path: 'secret' }],
      prefixes: [{ path: 'nomad/jobs' }],
    };
    const first = (await link.variables({ ...query, known: null }, never))._unsafeUnwrap();
    assert.deepEqual(first.items, [own.items, null]);
    assert.deepEqual(first.lists, [[{ path: own.path, namespace: 'default' }]]);
    const waiting = link.variables({ ...query, known: first.version }, never);
    (await putVariable(engine, hostPrincipal, { ...own, items: { colour: 'blue' } }))._unsafeUnwrap();
    let next = (await waiting)._unsafeUnwrap();
    while (next.version === first.version) {
      next = (await link.variables({ ...query, known: first.version }, never))._unsafeUnwrap();
    }
    assert.deepEqual(next.items, [{ colour: 'blue' }, null]);
    const foreign = await link.variables({ ...query, task: 'other', known: null }, never);
    assert.equal(foreign._unsafeUnwrapErr().type, 'node_refused');
    const leaving = new AbortController();
    const last = link.variables({ ...query, known: next.version }, leaving.signal);
    leaving.abort();
    await last;
  },

  'commands reach a serving agent': async (opened) => {
    const { engine, link, node } = opened;
    const { id } = await placed(opened);
    const asked: NodeCommand[] = [];
    const used = { residentBytes: 1, userPercent: 2, systemPercent: 3 };
    const usage = { ...used, processes: [{ ...used, pid: 4 }] };
    const stop = link.serve(node.ID, (command) => {
      asked.push(command);
      return okAsync(one({ type: 'value', value: { tasks: { t: usage }, at: 5 } }));
    });
    const answered = await eventually(() => readAllocationStats(engine, hostPrincipal, { allocationId: id }));
    assert.deepEqual(answered, { tasks: { t: usage }, at: 5 });
    assert.deepEqual(asked.at(-1), { type: 'stats', allocationId: id, task: null, eachProcess: true });
    stop();
    for (;;) {
      const refused = await readAllocationStats(engine, hostPrincipal, { allocationId: id });
      if (refused.isErr()) break;
    }
  },
};

function process(instance: string, folder?: string): AgentProcess {
  return { instance: instance.repeat(16), ...(folder === undefined ? {} : { folder: folder.repeat(16) }) };
}

async function* one(output: CommandOutput): AsyncGenerator<CommandOutput> {
  yield output;
}

/** Retries: a link may need some time before commands reach it. */
async function eventually<T>(ask: () => ResultAsync<T, unknown>): Promise<T> {
  for (const limit = AbortSignal.timeout(60_000); ; ) {
    const answer = await ask();
    if (answer.isOk() || limit.aborted) return answer._unsafeUnwrap();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The node is registered, and an allocation is placed on it. */
async function placed({ engine, link, node }: OpenedLink) {
  (await link.register(node))._unsafeUnwrap();
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } };
  const job = { ID: 'work', Type: 'batch', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [task] }] } as const;
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  for (let after = 0; ; ) {
    const list = (await link.work({ nodeId: node.ID, after }, AbortSignal.timeout(60_000)))._unsafeUnwrap();
    const id = list.work[0]?.allocation.ID;
    // The complete job, without defaults to fill in.
    if (id !== undefined) return { id, list: (await link.work({ nodeId: node.ID, after: 0 }, never))._unsafeUnwrap() };
    after = list.index;
  }
}

function reportOf(
  allocationId: string,
  clientStatus: AllocationReport['clientStatus'],
  startedAt: Instant,
): AllocationReport {
  const StartedAt = isoFromInstant(startedAt);
  const taskStates = { t: { ...pendingTask, State: 'running' as const, StartedAt } };
  return { allocationId, clientStatus, clientDescription: 'as told', taskStates };
}

async function allocationIn(engine: Engine, id: string) {
  return (await engine.storage.read((view) => view.get(allocations, [id])?.record))._unsafeUnwrap();
}
