import { hourNanos, minuteNanos, secondNanos } from '../document/document-values.js';

/*
 * The defaults of a job's policies (job interface, defaults of a registered job). Partial policies are
 * completed from them.
 */

export const defaultUpdate = {
  Stagger: 30 * secondNanos,
  MaxParallel: 1,
  HealthCheck: 'checks',
  MinHealthyTime: 10 * secondNanos,
  HealthyDeadline: 5 * minuteNanos,
  ProgressDeadline: 10 * minuteNanos,
  AutoRevert: false,
  AutoPromote: false,
  Canary: 0,
};

export const defaultMigrate = {
  MaxParallel: 1,
  HealthCheck: 'checks',
  MinHealthyTime: 10 * secondNanos,
  HealthyDeadline: 5 * minuteNanos,
};

const restartOfService = {
  Attempts: 2,
  Interval: 30 * minuteNanos,
  Delay: 15 * secondNanos,
  Mode: 'fail',
  RenderTemplates: false,
};

const restartOfBatch = { ...restartOfService, Attempts: 3, Interval: 24 * hourNanos };

export function defaultRestart(jobType: string): typeof restartOfService {
  return jobType === 'service' || jobType === 'system' ? restartOfService : restartOfBatch;
}

const rescheduleOfService = {
  Attempts: 0,
  Interval: 0,
  Delay: 30 * secondNanos,
  DelayFunction: 'exponential',
  MaxDelay: hourNanos,
  Unlimited: true,
};

const rescheduleOfBatch = {
  Attempts: 1,
  Interval: 24 * hourNanos,
  Delay: 5 * secondNanos,
  DelayFunction: 'constant',
  MaxDelay: 0,
  Unlimited: false,
};

const noReschedule = { Attempts: 0, Interval: 0, Delay: 0, DelayFunction: '', MaxDelay: 0, Unlimited: false };

/** The defaults of a partial policy. System and sysbatch jobs have no default policy, see `hasDefaultReschedule`. */
export function defaultReschedule(jobType: string): typeof rescheduleOfService {
  if (jobType === 'service') return rescheduleOfService;
  return jobType === 'batch' ? rescheduleOfBatch : noReschedule;
}

export function hasDefaultReschedule(jobType: string): boolean {
  return jobType !== 'system' && jobType !== 'sysbatch';
}

export const defaultDisk = { Sticky: false, Migrate: false, SizeMB: 300 };
export const defaultLogs = { MaxFiles: 10, MaxFileSizeMB: 10, Disabled: false };
export const defaultKillTimeout = 5 * secondNanos;
export const defaultWeight = 50;
export const defaultPriority = 50;
