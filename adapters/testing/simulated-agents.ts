import { agentPorts, type Engine, pendingTask } from '../../src/index.js';
import type { AgentLink, AllocationReport, NodeDescription } from '../../src/ports/index.js';
import type { Allocation, Node, TaskState } from '../../src/scheduler/index.js';
import type { ManualClock } from '../memory/index.js';

/** What the tasks of an allocation do: keep running, or end as `ends` this many milliseconds after their start (default: immediately). */
export interface Behaviour {
  readonly ends?: 'complete' | 'failed';
  readonly after?: number;
}

/** The agents of nodes that exist in the store only. */
export interface SimulatedAgents {
  /** Silences the agent of a node, as if its host had lost its network; with `false` it reports again. */
  silence(nodeId: string, silent?: boolean): void;
}

type ReportedStatus = 'running' | 'complete' | 'failed';

/** The states of all tasks of an allocation, as an agent reports them at this time (Unix milliseconds). */
function taskStatesOf({ allocation, status, since }: Held, now: number): Record<string, TaskState> {
  const { AllocatedResources, TaskStates } = allocation;
  const at = new Date(now).toISOString();
  const stateOf = (name: string): TaskState => ({
    ...pendingTask,
    State: status === 'running' ? 'running' : 'dead',
    Failed: status === 'failed',
    StartedAt: TaskStates?.[name]?.StartedAt ?? new Date(since).toISOString(),
    FinishedAt: status === 'running' ? null : at,
  });
  return Object.fromEntries(Object.keys(AllocatedResources.Tasks).map((name) => [name, stateOf(name)]));
}

interface Cast {
  readonly nodes: readonly Node[];
  readonly behaviour: (allocation: Allocation) => Behaviour;
}

/** An agent for each of the nodes. They end with the signal; `ended` resolves when all have ended. */
export function simulatedAgents(
  engine: Engine,
  clock: ManualClock,
  { nodes, behaviour }: Cast,
  signal: AbortSignal,
): SimulatedAgents & { readonly ended: Promise<unknown> } {
  const context = { link: agentPorts(engine).link, clock, behaviour };
  const agents = new Map(nodes.map((node) => [node.ID, new SimulatedAgent(node, context)]));
  return {
    silence: (nodeId, silent = true) => agents.get(nodeId)?.silence(silent),
    ended: Promise.all([...agents.values()].map((agent) => agent.run(signal))),
  };
}

interface AgentContext {
  readonly link: AgentLink;
  readonly clock: ManualClock;
  readonly behaviour: (allocation: Allocation) => Behaviour;
}

/** The agent's state of one allocation. */
interface Held {
  readonly allocation: Allocation;
  readonly status: ReportedStatus;
  /** When the agent took it, in Unix milliseconds. */
  readonly since: number;
  /** Ends the wait for the end of its tasks. */
  readonly over: AbortController;
}

class SimulatedAgent {
  readonly #node: Node;
  readonly #context: AgentContext;
  readonly #held = new Map<string, Held>();
  #isSilent = false;
  /** Aborts when the agent is silenced or reports again. */
  #turn = new AbortController();

  constructor(node: Node, context: AgentContext) {
    this.#node = node;
    this.#context = context;
  }

  silence(isSilent: boolean): void {
    if (isSilent === this.#isSilent) return;
    this.#isSilent = isSilent;
    this.#turn.abort();
    this.#turn = new AbortController();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const turn = AbortSignal.any([signal, this.#turn.signal]);
      if (this.#isSilent) await aborted(turn);
      else await Promise.all([this.#beat(turn), this.#work(turn)]);
    }
    for (const { over } of this.#held.values()) over.abort();
  }

  async #beat(turn: AbortSignal): Promise<void> {
    const { link, clock } = this.#context;
    while (!turn.aborted) {
      const beat = await link.heartbeat(this.#node.ID);
      const known =
        beat.isErr() && beat.error.type === 'node_not_found' ? await link.register(this.#description()) : beat;
      await clock.sleep(known.isOk() ? known.value.heartbeatTtl / 3 : retryPause, turn);
    }
  }

  #description(): NodeDescription {
    const {
      Status: _1,
      StatusDescription: _2,
      StatusUpdatedAt: _3,
      CreateIndex: _4,
      ModifyIndex: _5,
      ...own
    } = this.#node;
    return own;
  }

  async #work(turn: AbortSignal): Promise<void> {
    const { link, clock } = this.#context;
    // Changes during the silence are reported first.
    await this.#tell([...this.#held.values()], turn);
    for (let after = 0; !turn.aborted; ) {
      const list = await link.work({ nodeId: this.#node.ID, after }, turn);
      if (turn.aborted) return;
      if (list.isErr()) {
        await clock.sleep(retryPause, turn);
        continue;
      }
      after = list.value.index;
      for (const id of list.value.gone) this.#forget(id);
      await this.#tell(
        list.value.work.flatMap(({ allocation }) => this.#take(allocation)),
        turn,
      );
    }
  }

  /** Applies the server's change of an allocation; returns the state to report. */
  #take(allocation: Allocation): readonly Held[] {
    const before = this.#held.get(allocation.ID);
    if (allocation.DesiredStatus !== 'run') {
      this.#forget(allocation.ID);
      const since = before?.since ?? this.#context.clock.now();
      return hasEnded(allocation) ? [] : [{ allocation, status: 'complete', since, over: new AbortController() }];
    }
    if (before !== undefined) {
      this.#held.set(allocation.ID, { ...before, allocation });
      return [];
    }
    if (hasEnded(allocation)) return [];
    const since = this.#context.clock.now();
    const held: Held = { allocation, status: 'running', since, over: new AbortController() };
    this.#held.set(allocation.ID, held);
    void this.#end(held);
    return allocation.ClientStatus === 'running' ? [] : [held];
  }

  /** Waits for the end of the tasks, if they end. */
  async #end(running: Held): Promise<void> {
    const { allocation, over } = running;
    const { clock, behaviour } = this.#context;
    const { ends, after = 0 } = behaviour(allocation);
    if (ends === undefined) return;
    await clock.sleep(after, over.signal);
    if (over.signal.aborted) return;
    const held: Held = { ...(this.#held.get(allocation.ID) ?? running), status: ends };
    this.#held.set(allocation.ID, held);
    if (!this.#isSilent) await this.#tell([held], over.signal);
  }

  #forget(id: string): void {
    this.#held.get(id)?.over.abort();
    this.#held.delete(id);
  }

  /** Reports the states, again until the server has them or the signal aborts. */
  async #tell(held: readonly Held[], signal: AbortSignal): Promise<void> {
    if (held.length === 0) return;
    const { link, clock } = this.#context;
    const now = clock.now();
    const reports = held.map((each): AllocationReport => {
      const { allocation, status: clientStatus } = each;
      const taskStates = taskStatesOf(each, now);
      return { allocationId: allocation.ID, clientStatus, clientDescription: '', taskStates };
    });
    while (!signal.aborted) {
      const told = await link.report({ nodeId: this.#node.ID, reports });
      if (told.isOk()) return this.#letGo(held);
      // A node marked as down must register again before it reports.
      await clock.sleep(retryPause, signal);
    }
  }

  /** Drops ended allocations that the server has acknowledged, so that they are not reported again. */
  #letGo(told: readonly Held[]): void {
    for (const { allocation, status } of told) if (status !== 'running') this.#forget(allocation.ID);
  }
}

/** Milliseconds before a failed call is repeated. */
const retryPause = 1000;

function hasEnded({ ClientStatus }: Allocation): boolean {
  return ClientStatus === 'complete' || ClientStatus === 'failed' || ClientStatus === 'lost';
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
