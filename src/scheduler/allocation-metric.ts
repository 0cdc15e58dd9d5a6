/** A ranked node: the score of each rule that applied, and the mean. */
export interface NodeScore {
  readonly NodeID: string;
  /** By name of the rule. */
  readonly Scores: Readonly<Record<string, number>>;
  /** The mean of the scores; the highest wins. */
  readonly NormScore: number;
}

/** Requested amounts that did not fit, in the shape of a task's resources; 0 and null in dimensions that were not short. */
export interface ExhaustedResources {
  /** MHz. */
  readonly CPU: number;
  /** Whole cores. */
  readonly Cores: number;
  /** MiB. */
  readonly MemoryMB: number;
  /** MiB, with memory oversubscription. */
  readonly MemoryMaxMB: number;
  /** MiB, of the whole group. */
  readonly DiskMB: number;
  /** Always 0. */
  readonly IOPS: number;
  /** Always null. */
  readonly Networks: null;
  /** Always null. */
  readonly Devices: null;
  /** Always null. */
  readonly NUMA: null;
  /** Always 0. */
  readonly SecretsMB: number;
}

/** Why nodes were chosen or rejected (job interface, AllocMetric). Counters by name are null while they are empty. */
export interface AllocationMetric {
  /** Number of evaluated nodes. */
  readonly NodesEvaluated: number;
  /** Number of nodes that can never take the group. */
  readonly NodesFiltered: number;
  /** Ready nodes of the job's datacenters in its pool. */
  readonly NodesInPool: number;
  /** The pool of the job. */
  readonly NodePool: string;
  /** Ready nodes by datacenter. */
  readonly NodesAvailable: Readonly<Record<string, number>> | null;
  /** Filtered nodes by their class; nodes without a class are not counted. */
  readonly ClassFiltered: Readonly<Record<string, number>> | null;
  /** Filtered nodes by the first rule that they failed. */
  readonly ConstraintFiltered: Readonly<Record<string, number>> | null;
  /** Number of nodes that suit the group but lack room. */
  readonly NodesExhausted: number;
  /** Exhausted nodes by their class; nodes without a class are not counted. */
  readonly ClassExhausted: Readonly<Record<string, number>> | null;
  /** Exhausted nodes by the first dimension that was short. */
  readonly DimensionExhausted: Readonly<Record<string, number>> | null;
  /** Always null: quotas are checked at the registration. */
  readonly QuotaExhausted: readonly string[] | null;
  /** By task, the requested amounts that did not fit. */
  readonly ResourcesExhausted: Readonly<Record<string, ExhaustedResources>> | null;
  /** Always null: superseded by `ScoreMetaData`. */
  readonly Scores: Readonly<Record<string, number>> | null;
  /** The best nodes, at most five, best first. */
  readonly ScoreMetaData: readonly NodeScore[] | null;
  /** Duration of the decision in nanoseconds; 0 if not measured. */
  readonly AllocationTime: number;
  /** Further allocations of the group that were skipped after this one had failed. */
  readonly CoalescedFailures: number;
}
