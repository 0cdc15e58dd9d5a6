import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../adapters/memory/index.js';
import { createEngine, type Engine } from '../../src/engine.js';
import { hostPrincipal } from '../../src/index.js';
import { heartbeatNode, registerNode } from '../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../src/operations/scheduling/report-allocations.js';
import type { HttpDelivery } from '../../src/ports/http-delivery.js';
import type { Ids } from '../../src/ports/ids.js';
import type { Storage } from '../../src/ports/storage.js';
import { type Allocation, allocations, type TaskState } from '../../src/scheduler/allocation.js';
import type { Node } from '../../src/scheduler/node.js';
import type { SettingsOverrides } from '../../src/settings.js';
import { type Milliseconds, second } from '../../src/shared/duration.js';
import { type Instant, isoFromInstant } from '../../src/shared/instant.js';
import type { Table } from '../../src/shared/table.js';
import { nodeFrom } from './nodes.js';

/** The behaviour of an allocation: it runs indefinitely, or completes or fails this long after its start. */
export type Behaviour = { readonly ends?: 'complete' | 'failed'; readonly after?: number };

export interface FakeCluster extends AsyncDisposable {
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly storage: Storage;
  /** Registers a node whose agent updates its allocations every second. */
  addNode(id: string, change?: Partial<Node>): Promise<void>;
  /** Silences the agent, or lets it report again. */
  silence(id: string, silent?: boolean): void;
  /** All records of a table. */
  rows<R>(table: Table<R>): Promise<R[]>;
}

export interface FakeClusterOptions {
  readonly behaviour?: (allocation: Allocation) => Behaviour;
  readonly settings?: SettingsOverrides;
  readonly storage?: Storage;
  readonly clock?: ManualClock;
  readonly delivery?: HttpDelivery;
  /** IDs that differ from those of an earlier cluster over the same storage. */
  readonly ids?: Ids;
  /** Milliseconds between two rounds of an agent; default: one second. */
  readonly every?: number;
  /** Whether a round of an agent, with all its reports, is lost. */
  readonly lossy?: () => boolean;
}

/** An installation in virtual time: a running engine, and nodes whose agents start and stop allocations as requested. */
export function fakeCluster(options: FakeClusterOptions = {}): FakeCluster {
  const clock = options.clock ?? manualClock();
  const storage = options.storage ?? memoryStorage();
  const engine = createEngine(
    { storage, clock, ids: options.ids ?? sequentialIds(), delivery: options.delivery ?? recordingDelivery() },
    options.settings ?? {},
  );
  const ended = new AbortController();
  const silent = new Set<string>();
  const agents: Promise<void>[] = [];
  const started = new Map<string, Milliseconds>();
  engine.start();

  const agent = async (node: Node): Promise<void> => {
    while (!ended.signal.aborted) {
      if (!silent.has(node.ID) && options.lossy?.() !== true)
        await look(engine, node, options.behaviour ?? (() => ({})), started);
      await clock.sleep(options.every ?? second, ended.signal);
    }
  };

  return {
    engine,
    clock,
    storage,
    async addNode(id, change = {}) {
      const node = nodeFrom(id, change);
      (await registerNode(engine, hostPrincipal, node))._unsafeUnwrap();
      agents.push(agent(node));
    },
    silence(id, isSilent = true) {
      if (isSilent) silent.add(id);
      else silent.delete(id);
    },
    rows: async (table) => (await storage.read((view) => view.list(table).map(({ record }) => record)))._unsafeUnwrap(),
    async [Symbol.asyncDispose]() {
      ended.abort();
      await Promise.all(agents);
      await engine.stop();
    },
  };
}

/** One round of an agent: sends a heartbeat or registers again, and reports changes of its allocations. */
async function look(
  engine: Engine,
  node: Node,
  behaviour: (allocation: Allocation) => Behaviour,
  started: Map<string, Milliseconds>,
): Promise<void> {
  const alive = await heartbeatNode(engine, hostPrincipal, node.ID);
  if (alive.isErr()) await registerNode(engine, hostPrincipal, node);
  const query = { index: 'open_by_node', prefix: [node.ID] };
  const open = await engine.storage.read((view) => view.list(allocations, query).map(({ record }) => record));
  const [now, passed] = [engine.clock.now(), engine.clock.monotonic()];
  const reports = open._unsafeUnwrap().flatMap((allocation) => {
    if (!started.has(allocation.ID)) started.set(allocation.ID, passed);
    const ranFor = passed - (started.get(allocation.ID) ?? passed);
    const clientStatus = nextStatus(allocation, behaviour(allocation), ranFor);
    if (clientStatus === allocation.ClientStatus) return [];
    const taskStates = taskStatesOf(allocation, clientStatus, now);
    return [{ allocationId: allocation.ID, clientStatus, clientDescription: '', taskStates }];
  });
  if (reports.length > 0) await reportAllocations(engine, hostPrincipal, { nodeId: node.ID, reports });
}

type Status = 'pending' | 'running' | 'complete' | 'failed';

function nextStatus(allocation: Allocation, { ends, after = 0 }: Behaviour, ranFor: Milliseconds): Status {
  if (allocation.DesiredStatus !== 'run') return 'complete';
  if (allocation.ClientStatus === 'pending') return 'running';
  return ends !== undefined && ranFor >= after ? ends : 'running';
}

function taskStatesOf(allocation: Allocation, status: Status, now: Instant): Record<string, TaskState> {
  const at = isoFromInstant(now);
  const names = Object.keys(allocation.AllocatedResources.Tasks);
  const state = (name: string): TaskState => ({
    State: status === 'running' ? 'running' : 'dead',
    Failed: status === 'failed',
    Restarts: 0,
    LastRestart: null,
    StartedAt: allocation.TaskStates?.[name]?.StartedAt ?? at,
    FinishedAt: status === 'running' ? null : at,
    Events: [],
    Paused: '',
  });
  return Object.fromEntries(names.map((name) => [name, state(name)]));
}
