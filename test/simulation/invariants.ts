import { type JobSummary, jobSummaries } from '../../src/jobs/status/job-summary.js';
import { type Delivery, deliveries } from '../../src/notifications/delivery/delivery.js';
import { events, type StoredEvent } from '../../src/notifications/events/event.js';
import type { ReadView, Storage } from '../../src/ports/storage.js';
import {
  type Allocation,
  allocations,
  isClientTerminal,
  isTerminalAllocation,
} from '../../src/scheduler/allocation.js';
import { type BlockedRequirement, blockedRequirements } from '../../src/scheduler/blocked/blocked-requirement.js';
import { addCapacity, type Capacity, capacityUsedBy, noCapacity } from '../../src/scheduler/cluster/capacity.js';
import { type NodeUsage, nodeUsages } from '../../src/scheduler/node-tables.js';

/** What must hold at every moment, whatever has happened. Remembers what lived when it looked last. */
export class Invariants {
  readonly #storage: Storage;
  #live: ReadonlySet<string> = new Set();
  #waiting: readonly BlockedRequirement[] = [];

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** What does not hold. `purged` jobs may have lost their allocations since the last look. */
  async faults(purged: ReadonlySet<string>): Promise<string[]> {
    const { all, usages, summaries, waiting, told } = (
      await this.#storage.read((view) => ({
        all: recordsOf(view, allocations),
        usages: recordsOf(view, nodeUsages),
        summaries: recordsOf(view, jobSummaries),
        waiting: recordsOf(view, blockedRequirements),
        told: { events: recordsOf(view, events), deliveries: recordsOf(view, deliveries) },
      }))
    )._unsafeUnwrap();
    const faults = [
      ...booksUnlikeRecount(all, usages),
      ...portsGivenTwice(all),
      ...namesLivingTwice(all),
      ...summariesUnlikeRecount(all, summaries),
      ...this.#collectedAlive(all, purged),
      ...startedOutOfTurn(this.#waiting, waiting, all),
      ...deliveriesOfNoEvent(told.events, told.deliveries),
    ];
    this.#waiting = waiting;
    this.#live = new Set(all.filter((each) => !isTerminalAllocation(each)).map(identityOf));
    return faults;
  }

  #collectedAlive(all: readonly Allocation[], purged: ReadonlySet<string>): string[] {
    const there = new Set(all.map(identityOf));
    return [...this.#live]
      .filter((identity) => !there.has(identity) && !purged.has(identity.split(' ')[0] ?? ''))
      .map((identity) => `${identity} lived and is gone`);
  }
}

function recordsOf<R>(view: ReadView, table: Parameters<typeof view.list<R>>[0]): R[] {
  return view.list(table).map(({ record }) => record);
}

const identityOf = ({ JobID, ID }: Allocation): string => `${JobID} ${ID}`;

function booksUnlikeRecount(all: readonly Allocation[], usages: readonly NodeUsage[]): string[] {
  const used = new Map<string, Capacity>();
  for (const each of all) {
    used.set(each.NodeID, addCapacity(used.get(each.NodeID) ?? noCapacity, capacityUsedBy(each)));
  }
  const nodes = new Set([...used.keys(), ...usages.map(({ ID }) => ID)]);
  return [...nodes].flatMap((id) => {
    const { cpu, memory, disk } = usages.find(({ ID }) => ID === id) ?? noCapacity;
    const booked = JSON.stringify({ cpu, memory, disk });
    const counted = JSON.stringify(used.get(id) ?? noCapacity);
    return booked === counted ? [] : [`node ${id}: ${booked} is booked and ${counted} used`];
  });
}

function portsGivenTwice(all: readonly Allocation[]): string[] {
  const owners = new Map<string, string>();
  const faults: string[] = [];
  for (const each of all) {
    if (isClientTerminal(each)) continue;
    for (const { Value } of each.AllocatedResources.Shared.Ports ?? []) {
      const port = `${each.NodeID}:${Value}`;
      const owner = owners.get(port);
      if (owner !== undefined) faults.push(`port ${port} belongs to ${owner} and ${each.Name}`);
      owners.set(port, each.Name);
    }
  }
  return faults;
}

/** Canaries run beside the allocation that they replace, and jobs of the type system have one name on all nodes. */
function namesLivingTwice(all: readonly Allocation[]): string[] {
  const names = new Map<string, number>();
  for (const each of all) {
    if (isTerminalAllocation(each) || each.ClientStatus === 'unknown' || each.DeploymentStatus?.Canary === true)
      continue;
    const onNode = each.JobType.startsWith('sys') ? ` on ${each.NodeID}` : '';
    const name = `${each.Name} of ${each.JobCreateIndex}${onNode}`;
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  return [...names].flatMap(([name, count]) => (count === 1 ? [] : [`${name} lives ${count} times`]));
}

/** Totals of what has ended are kept when allocations are collected; what is under way must be exact. */
function summariesUnlikeRecount(all: readonly Allocation[], summaries: readonly JobSummary[]): string[] {
  return summaries.flatMap(({ JobID, Summary }) => {
    const own = all.filter((each) => each.JobID === JobID);
    return Object.entries(Summary).flatMap(([group, { Running, Starting, Complete, Failed, Lost, Queued }]) => {
      const count = (status: string): number =>
        own.filter((each) => each.TaskGroup === group && each.ClientStatus === status).length;
      const told = { Starting, Running };
      const counted = { Starting: count('pending'), Running: count('running') };
      const ended = Complete >= count('complete') && Failed >= count('failed') && Lost >= count('lost') && Queued >= 0;
      return JSON.stringify(told) === JSON.stringify(counted) && ended
        ? []
        : [`summary of ${JobID}: ${JSON.stringify(Summary)}, counted ${JSON.stringify(counted)}`];
    });
  });
}

/**
 * Of those that waited for the same and for nothing else at the last look, nobody is placed while one of a higher priority, or of the same
 * and older, still waits.
 */
function startedOutOfTurn(
  before: readonly BlockedRequirement[],
  now: readonly BlockedRequirement[],
  all: readonly Allocation[],
): string[] {
  const placed = new Set(all.map(({ EvalID }) => EvalID));
  const single = before.filter(({ ID }) => before.filter((other) => other.ID === ID).length === 1);
  const still = single.filter(({ ID, requirement }) =>
    now.some((other) => other.ID === ID && other.requirement === requirement),
  );
  const gone = single.filter(({ ID }) => placed.has(ID) && !now.some((other) => other.ID === ID));
  return gone.flatMap((started) =>
    still
      .filter((waits) => waits.requirement === started.requirement && isMoreUrgent(waits, started))
      .map((waits) => `${started.ID} (${started.priority}) was placed before ${waits.ID} (${waits.priority})`),
  );
}

function isMoreUrgent(one: BlockedRequirement, other: BlockedRequirement): boolean {
  return one.priority > other.priority || (one.priority === other.priority && one.createIndex < other.createIndex);
}

/** Each delivery belongs to an event that notifies its configuration, and each pair has one at most. */
function deliveriesOfNoEvent(told: readonly StoredEvent[], made: readonly Delivery[]): string[] {
  const notified = new Set(told.flatMap((event) => event.notified.map(({ id }) => `${event.sequence} to ${id}`)));
  return made.flatMap(({ id, sequence, configurationId }) => {
    const pair = `${sequence} to ${configurationId}`;
    return notified.delete(pair) ? [] : [`the delivery ${id} is of no event, or the second one of it: ${pair}`];
  });
}
