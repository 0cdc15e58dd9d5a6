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
  /** The delayed evaluation that will handle it. */
  readonly followupEvalId?: string | undefined;
}

/** A wanted allocation. */
export interface PlaceIntent {
  readonly name: string;
  readonly group: TaskGroup;
  /** The allocation that it replaces. */
  readonly previous?: Allocation;
  /** Whether it counts against the reschedule policy. */
  readonly reschedule?: boolean;
  readonly lost?: boolean;
  readonly canary?: boolean;
  /** Canaries are being checked: the replaced allocation was of an older version, and so is its replacement. */
  readonly downgrade?: boolean;
}

/** An allocation that is stopped only if its replacement finds a node. */
export interface ReplaceIntent {
  readonly allocation: Allocation;
  readonly group: TaskGroup;
}

/** Whether its node is disconnected, so that its state is unknown. */
interface UnknownIntent {
  readonly allocation: Allocation;
  readonly followupEvalId: string | undefined;
}

/** A status change of a deployment. */
export interface DeploymentUpdate {
  readonly deploymentId: string;
  readonly status: DeploymentStatus;
  /** Reason, for display. */
  readonly description: string;
}

type MutableDesiredUpdates = { -readonly [K in keyof DesiredUpdates]: DesiredUpdates[K] };

/** The changes that bring a job's allocations in line with its declaration. Filled step by step by the rules. */
export class Intents {
  readonly stop: StopIntent[] = [];
  readonly unknown: UnknownIntent[] = [];
  /** Allocations on reconnected nodes that continue. */
  readonly reconnected: Allocation[] = [];
  /** Allocations that continue unchanged under the new job version. */
  readonly inPlace: ReplaceIntent[] = [];
  readonly replace: ReplaceIntent[] = [];
  readonly place: PlaceIntent[] = [];
  /** By allocation: the delayed evaluation that will replace it. */
  readonly followups = new Map<string, string>();
  /** New delayed evaluations. */
  readonly evaluations: Evaluation[] = [];
  readonly names = new Map<string, NameIndex>();
  /** The deployment that this evaluation creates or rewrites. */
  deployment: Deployment | undefined;
  /** The groups of that deployment, once a group has joined it: a private copy, so that each further group takes constant time. */
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

  /** Whether the allocation is about to become unknown. */
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

/** Descriptions of desired and client status. Existing clients compare these strings. */
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

/** The list without the allocations of the other list. */
export function without(allocations: readonly Allocation[], removed: Iterable<Allocation>): readonly Allocation[] {
  const ids = new Set<string>();
  for (const { ID } of removed) ids.add(ID);
  return ids.size === 0 ? allocations : allocations.filter(({ ID }) => !ids.has(ID));
}
