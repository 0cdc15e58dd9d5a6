import type { TaskGroup } from '../../jobs/document/task-group.js';
import { minute, second } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import { type Allocation, type ClientStatus, isClientTerminal, type TaskState } from '../allocation.js';
import { triggerAfterReport } from '../allocation-reports.js';
import { withHealth } from '../deployment/actions.js';
import type { Steps } from '../steps.js';
import type { SimulatedWorld } from './simulated-world.js';
import type { SimulatedAgents as Behaviour } from './simulation.js';

/** The next report about an allocation from its node. */
interface NextReport {
  readonly at: Instant;
  readonly status: ClientStatus | 'healthy';
}

/** The agents of all ready nodes: they start, end and stop allocations, and report when they are healthy. */
export class Agents {
  readonly #world: SimulatedWorld;
  readonly #startAfter: number;
  readonly #workFor: number;

  constructor(world: SimulatedWorld, { startAfter = second, workFor = minute }: Behaviour = {}) {
    this.#world = world;
    this.#startAfter = startAfter;
    this.#workFor = workFor;
  }

  /** When the next report of an agent is due. */
  get next(): Instant {
    let earliest = Number.POSITIVE_INFINITY;
    for (const allocation of this.#world.allocations.values()) {
      earliest = Math.min(earliest, this.#nextOf(allocation)?.at ?? Number.POSITIVE_INFINITY);
    }
    return earliest;
  }

  /** Sends all due reports. */
  *report(): Steps<void> {
    for (const { ID } of [...this.#world.allocations.values()]) {
      const allocation = this.#world.allocations.get(ID);
      const next = allocation === undefined ? undefined : this.#nextOf(allocation);
      if (allocation === undefined || next === undefined || next.at > this.#world.now) continue;
      yield;
      if (next.status !== 'healthy') this.statusChanged(allocation, next.status);
      else this.#world.change(withHealth(allocation, true, this.#write()));
    }
  }

  /** Call when the status of an allocation has changed. */
  statusChanged(before: Allocation, status: ClientStatus): void {
    const world = this.#world;
    const after = { ...before, ...this.#stateOf(before, status) };
    const job = world.jobOf(before);
    const unhealthy = status === 'failed' && before.DeploymentID !== undefined && !before.DeploymentStatus?.Healthy;
    const trigger = job === undefined ? undefined : triggerAfterReport(job, before, after, world.now);
    if (job !== undefined && trigger !== undefined) world.evaluate(job, trigger);
    world.change(unhealthy ? withHealth(after, false, this.#write()) : after);
  }

  #nextOf(allocation: Allocation): NextReport | undefined {
    const { NodeID, DesiredStatus, ClientStatus, CreateTime } = allocation;
    if (this.#world.nodes.get(NodeID)?.Status !== 'ready' || isClientTerminal(allocation)) return undefined;
    if (DesiredStatus !== 'run') return { at: this.#world.now, status: 'complete' };
    if (ClientStatus === 'unknown') return { at: this.#world.now, status: 'running' };
    if (ClientStatus === 'pending')
      return { at: instantFromUnixNanos(CreateTime) + this.#startAfter, status: 'running' };
    return this.#nextOfRunning(allocation);
  }

  #nextOfRunning(allocation: Allocation): NextReport | undefined {
    const { JobType } = allocation;
    const started = startedAt(allocation);
    if (JobType === 'batch' || JobType === 'sysbatch') return { at: started + this.#workFor, status: 'complete' };
    const watched = allocation.DeploymentID !== undefined && (allocation.DeploymentStatus?.Healthy ?? null) === null;
    return watched ? { at: started + this.#minHealthyTime(allocation), status: 'healthy' } : undefined;
  }

  #minHealthyTime(allocation: Allocation): number {
    const { TaskGroups = [] } = this.#world.jobOf(allocation) ?? {};
    const group = TaskGroups.find(({ Name }: TaskGroup) => Name === allocation.TaskGroup);
    return (group?.Update?.MinHealthyTime ?? 0) / 1_000_000;
  }

  #stateOf(
    before: Allocation,
    status: ClientStatus,
  ): Pick<Allocation, 'ClientStatus' | 'TaskStates' | 'ModifyIndex' | 'ModifyTime'> {
    const { now, index } = this.#world;
    const running = status === 'running';
    const state: TaskState = {
      State: running ? 'running' : 'dead',
      Failed: status === 'failed',
      Restarts: 0,
      LastRestart: null,
      StartedAt: before.TaskStates?.['all']?.StartedAt ?? isoFromInstant(now),
      FinishedAt: running ? null : isoFromInstant(now),
      Events: null,
      Paused: '',
    };
    return {
      ClientStatus: status,
      TaskStates: { all: state },
      ModifyIndex: index,
      ModifyTime: unixNanosFromInstant(now),
    };
  }

  #write() {
    return { now: this.#world.now, index: this.#world.index };
  }
}

function startedAt({ TaskStates, ModifyTime }: Allocation): Instant {
  const starts = Object.values(TaskStates ?? {}).flatMap(({ StartedAt }) =>
    StartedAt === null ? [] : [Date.parse(StartedAt)],
  );
  return starts.length === 0 ? instantFromUnixNanos(ModifyTime) : Math.max(...starts);
}
