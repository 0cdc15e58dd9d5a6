/** One node as it was ranked: the score of each rule that took part, and their mean. */
export interface NodeScore {
  readonly NodeID: string;
  /** By name of the rule. */
  readonly Scores: Readonly<Record<string, number>>;
  /** The mean of the scores; the highest wins. */
  readonly NormScore: number;
}

/** Amounts that found no room, in the shape of a task's resources; 0 and null in dimensions that were not short. */
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

/** Why nodes were chosen or not (job interface, AllocMetric). Counters by name are null while they are empty. */
export interface AllocationMetric {
  /** Nodes that were considered. */
  readonly NodesEvaluated: number;
  /** Nodes that can never take the group. */
  readonly NodesFiltered: number;
  /** Ready nodes of the job's datacenters in its pool. */
  readonly NodesInPool: number;
  /** The pool of the job. */
  readonly NodePool: string;
  /** Ready nodes by datacenter. */
  readonly NodesAvailable: Readonly<Record<string, number>> | null;
  /** Filtered nodes by their class; nodes without a class are not counted. */
  readonly ClassFiltered: Readonly<Record<string, number>> | null;
  /** Filtered nodes by the first rule that they did not meet. */
  readonly ConstraintFiltered: Readonly<Record<string, number>> | null;
  /** Nodes that could take the group if they had more room. */
  readonly NodesExhausted: number;
  /** Exhausted nodes by their class; nodes without a class are not counted. */
  readonly ClassExhausted: Readonly<Record<string, number>> | null;
  /** Exhausted nodes by the first dimension that was short. */
  readonly DimensionExhausted: Readonly<Record<string, number>> | null;
  /** Always null: quotas are checked at the registration. */
  readonly QuotaExhausted: readonly string[] | null;
  /** By task, the amounts that found no room. */
  readonly ResourcesExhausted: Readonly<Record<string, ExhaustedResources>> | null;
  /** Always null: `ScoreMetaData` has them. */
  readonly Scores: Readonly<Record<string, number>> | null;
  /** The best nodes, at most five, best first. */
  readonly ScoreMetaData: readonly NodeScore[] | null;
  /** Nanoseconds that the decision took; 0 if they are not measured. */
  readonly AllocationTime: number;
  /** Further allocations of the group that were not tried after this one had failed. */
  readonly CoalescedFailures: number;
}
