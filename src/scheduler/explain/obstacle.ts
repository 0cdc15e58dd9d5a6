/** A change that would remove an obstacle. */
export interface RemedialChange {
  /** What has to change. */
  readonly of: 'job' | 'node';
  /** The field, attribute or state: `Datacenters`, `attr.kernel.name`, `SchedulingEligibility`, `Resources.CPU`. */
  readonly subject: string;
  /** The current value; empty when there is none. */
  readonly from: string;
  /** The required value; empty when the current value would have to be removed. */
  readonly to: string;
}

/** One reason why a node does not take the group's allocation. */
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
  /** Distance to a suitable node, above 0 and up to 1: the missing share of an amount; 1 where there is no amount. */
  readonly lack: number;
  /** Changes that would each be sufficient alone, the smallest first; empty when no single change is known to be. */
  readonly changes: readonly RemedialChange[];
}
