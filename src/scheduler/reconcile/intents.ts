import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation, ClientStatus } from '../allocation.js';
import type { Deployment, DeploymentState, DeploymentStatus } from '../deployment/deployment.js';
import type { DesiredUpdates, Evaluation } from '../evaluation.js';
import type { NameIndex } from './names.js';

/** An allocation that should end. */
export interface StopIntent {
  readonly allocation: Allocation;
  readonly description: string;
  /** Set by the scheduler only for allocations whose node can no longer report. */
  readonly clientStatus?: Extract<ClientStatus, 'lost' | 'failed'>;
  /** The evaluation that handles it later. */
  readonly followupEvalId?: string | undefined;
}

/** A wanted allocation. */
export interface PlaceIntent {
  readonly name: string;
  readonly group: TaskGroup;
  /** The allocation whose place it takes. */
  readonly previous?: Allocation;
  /** Counts against the reschedule policy. */
  readonly reschedule?: boolean;
  readonly lost?: boolean;
  readonly canary?: boolean;
  /** Canaries are being checked: what it replaces was of an older version, and so is the replacement. */
  readonly downgrade?: boolean;
}

/** An allocation that is stopped if, and only if, its replacement finds a node. */
export interface ReplaceIntent {
  readonly allocation: Allocation;
  readonly group: TaskGroup;
}

/** The node is disconnected: the state of the allocation is unknown. */
interface UnknownIntent {
  readonly allocation: Allocation;
  readonly followupEvalId: string | undefined;
}

/** A change of the status of a deployment that a plan makes. */
export interface DeploymentUpdate {
  readonly deploymentId: string;
  readonly status: DeploymentStatus;
  /** Why, for people. */
  readonly description: string;
}

type MutableDesiredUpdates = { -readonly [K in keyof DesiredUpdates]: DesiredUpdates[K] };

/** The changes that bring the allocations of a job to its declaration. The rules add to it as they decide. */
export class Intents {
  readonly stop: StopIntent[] = [];
  readonly unknown: UnknownIntent[] = [];
  /** They are back, and continue. */
  readonly reconnected: Allocation[] = [];
  /** They continue under the new job version as they are. */
  readonly inPlace: ReplaceIntent[] = [];
  readonly replace: ReplaceIntent[] = [];
  readonly place: PlaceIntent[] = [];
  /** By allocation: the evaluation that replaces it later. */
  readonly followups = new Map<string, string>();
  /** New evaluations for later. */
  readonly evaluations: Evaluation[] = [];
  readonly names = new Map<string, NameIndex>();
  /** A deployment that this evaluation makes, or writes again. */
  deployment: Deployment | undefined;
  /** The groups of that deployment, once a group has joined it: its own copy, so that each further group takes constant time. */
  joined: Record<string, DeploymentState> | undefined;
  readonly deploymentUpdates: DeploymentUpdate[] = [];
  readonly #unknownIds = new Set<string>();
  readonly #desired = new Map<string, MutableDesiredUpdates>();

  desired(group: string): MutableDesiredUpdates {
    let desired = this.#desired.get(group);
    if (desired === undefined) {
      desired = { ...nothingDesired };
      this.#desired.set(group, desired);
    }
    return desired;
  }

  get desiredUpdates(): ReadonlyMap<string, DesiredUpdates> {
    return this.#desired;
  }

  /** Whether the state of the allocation is about to be unknown. */
  makesUnknown({ ID }: Allocation): boolean {
    for (const { allocation } of this.unknown.slice(this.#unknownIds.size)) this.#unknownIds.add(allocation.ID);
    return this.#unknownIds.has(ID);
  }

  stopAll(allocations: Iterable<Allocation>, description: string, clientStatus?: StopIntent['clientStatus']): void {
    for (const allocation of allocations) {
      this.stop.push({ allocation, description, ...(clientStatus === undefined ? {} : { clientStatus }) });
    }
  }
}

export const nothingDesired: DesiredUpdates = {
  Ignore: 0,
  Place: 0,
  Migrate: 0,
  Stop: 0,
  InPlaceUpdate: 0,
  DestructiveUpdate: 0,
  Canary: 0,
  Preemptions: 0,
  Disconnect: 0,
  Reconnect: 0,
  RescheduleNow: 0,
  RescheduleLater: 0,
};

/** Why the desired or the client status of an allocation changed. Existing clients know these strings. */
export const descriptions = {
  notNeeded: 'alloc not needed due to job update',
  lost: 'alloc is lost since its node is down',
  unknown: 'alloc is unknown since its node is disconnected',
  migrating: 'alloc is being migrated',
  updating: 'alloc is being updated due to job update',
  rescheduled: 'alloc was rescheduled because it failed',
  reconnected: 'alloc not needed due to disconnected client reconnect',
  nodeTainted: 'alloc not needed as node is tainted',
  preempted: (allocationId: string) => `The allocation made room for allocation ${allocationId}`,
} as const;

/** Without the allocations of the other list. */
export function without(allocations: readonly Allocation[], removed: Iterable<Allocation>): readonly Allocation[] {
  const ids = new Set<string>();
  for (const { ID } of removed) ids.add(ID);
  return ids.size === 0 ? allocations : allocations.filter(({ ID }) => !ids.has(ID));
}
