import { hourNanos, minuteNanos, secondNanos } from '../document/document-values.js';

/**
 * Fills every null of the block from the defaults; keys without a default stay as given. Changes the block that it gets, so
 * callers hand over a copy: made at their place in the source, copies of one shape are fast.
 */
export function filled<T extends object, D extends object>(copy: T, defaults: D): T & D {
  const out = copy as Record<string, unknown>;
  for (const key in defaults) {
    if (out[key] === null || out[key] === undefined) out[key] = defaults[key];
  }
  return copy as T & D;
}

/** The base, overridden by every given value of the overlay. */
export function overlaid<T extends object>(base: T | null, overlay: T | null): T | null {
  if (base === null || overlay === null) return overlay ?? base;
  return filled({ ...overlay }, base) as T;
}

/** Null for an empty list or map: the document does not distinguish them. */
export function nullIfEmpty<T extends object>(value: T | null): T | null {
  if (value === null) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  for (const _ in value) return value;
  return null;
}

export function mapList<T, U>(list: readonly T[] | null, change: (element: T) => U): U[] | null {
  return list === null ? null : list.map(change);
}

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
