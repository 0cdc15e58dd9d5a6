import { table } from '../shared/table.js';

/** `binpack` fills nodes one after the other, `spread` loads them evenly. */
export type SchedulerAlgorithm = 'binpack' | 'spread';

/** Which job types may preempt allocations of jobs whose priority is at least 10 lower. */
export interface PreemptionConfig {
  /** True in a new installation. */
  readonly SystemSchedulerEnabled: boolean;
  /** False in a new installation. */
  readonly SysBatchSchedulerEnabled: boolean;
  /** False in a new installation. */
  readonly BatchSchedulerEnabled: boolean;
  /** False in a new installation. */
  readonly ServiceSchedulerEnabled: boolean;
}

/** How placements are chosen in the whole installation (job interface, scheduler configuration). */
export interface SchedulerConfiguration {
  /** For pools that set none. */
  readonly SchedulerAlgorithm: SchedulerAlgorithm;
  /** By type of job. */
  readonly PreemptionConfig: PreemptionConfig;
  /** Tasks may use memory up to their MemoryMaxMB. */
  readonly MemoryOversubscriptionEnabled: boolean;
  /** Only management callers may register, revert, scale and dispatch. */
  readonly RejectJobRegistration: boolean;
  /** Evaluations are created but wait: none is processed. */
  readonly PauseEvalBroker: boolean;
  /** Kept for existing clients: every node is evaluated regardless of this value. */
  readonly NodeLimitForFeasibilityChecks: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export const defaultSchedulerConfiguration: SchedulerConfiguration = {
  SchedulerAlgorithm: 'binpack',
  PreemptionConfig: {
    SystemSchedulerEnabled: true,
    SysBatchSchedulerEnabled: false,
    BatchSchedulerEnabled: false,
    ServiceSchedulerEnabled: false,
  },
  MemoryOversubscriptionEnabled: false,
  RejectJobRegistration: false,
  PauseEvalBroker: false,
  NodeLimitForFeasibilityChecks: 100,
  CreateIndex: 1,
  ModifyIndex: 1,
};

/** A table of one row. */
export const schedulerConfigurations = table<SchedulerConfiguration>('scheduler_configurations', () => [
  'configuration',
]);
