/** A change that would take an obstacle out of the way. */
export interface RemedialChange {
  /** What has to change. */
  readonly of: 'job' | 'node';
  /** The field, attribute or state: `Datacenters`, `attr.kernel.name`, `SchedulingEligibility`, `Resources.CPU`. */
  readonly subject: string;
  /** As it is now; empty when it is not there. */
  readonly from: string;
  /** As it would have to be; empty when it would have to go. */
  readonly to: string;
}

/** One reason why a node does not take a group's allocation. */
export interface PlacementObstacle {
  readonly kind:
    | 'status'
    | 'eligibility'
    | 'drain'
    | 'pool'
    | 'datacenter'
    | 'driver'
    | 'task_part'
    | 'constraint'
    | 'device'
    | 'network'
    | 'volume'
    | 'neighbour'
    | 'room';
  /** One sentence. */
  readonly message: string;
  /** How far the node is from taking it, above 0 to 1: the missing share of an amount; 1 where it is all or nothing. */
  readonly lack: number;
  /** Any one of them would do, the smallest first; empty when no single change is known that would. */
  readonly changes: readonly RemedialChange[];
}
