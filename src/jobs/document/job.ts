import type { UnixNanoseconds } from './document-values.js';
import {
  block,
  bytes,
  flag,
  flagOrNull,
  inputOnly,
  integer,
  integerOrNull,
  integerOrNullOf,
  many,
  neverNull,
  one,
  oneAlways,
  oneOf,
  oneOfOrNull,
  reset,
  type Stored,
  storedAs,
  stringMap,
  strings,
  text,
  textOrNull,
  uint64,
} from './field-table.js';
import {
  type Affinity,
  affinityBlock,
  type Constraint,
  constraintBlock,
  type Spread,
  spreadBlock,
} from './placement.js';
import { migrateBlock, rescheduleBlock, type UpdateStrategy, updateBlock } from './policies.js';
import { type TaskGroup, taskGroupBlock } from './task-group.js';

/**
 * The stored form of a job: what the job interface answers, with its own field names. Every default is filled. Values are as checked
 * by `validateJob`. `JobInput` describes the fields that a caller sets.
 */
export interface Job {
  readonly Stop: boolean;
  readonly Region: string;
  readonly Namespace: string;
  readonly ID: string;
  /** ID of the job that this one is an instance of; empty for others. */
  readonly ParentID: string;
  readonly Name: string;
  readonly Type: JobType;
  readonly Priority: number;
  readonly AllAtOnce: boolean;
  readonly Datacenters: readonly string[];
  readonly NodePool: string;
  readonly Constraints: readonly Constraint[] | null;
  readonly Affinities: readonly Affinity[] | null;
  readonly Spreads: readonly Spread[] | null;
  readonly TaskGroups: readonly TaskGroup[];
  readonly Update: UpdateStrategy;
  readonly Multiregion: Multiregion | null;
  readonly Periodic: PeriodicConfig | null;
  readonly ParameterizedJob: ParameterizedJobConfig | null;
  /** Whether the job is an instance created by a dispatch. */
  readonly Dispatched: boolean;
  /** The idempotency token of the dispatch that created it; empty for none. */
  readonly DispatchIdempotencyToken: string;
  /** The payload of the dispatch, in base64; null for none. */
  readonly Payload: string | null;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly ConsulNamespace: string;
  readonly VaultNamespace: string;
  /** Accessor of the token that registered this version; empty for none. */
  readonly NomadTokenID: string;
  /** Set by the server. */
  readonly Status: JobStatus;
  readonly StatusDescription: string;
  /** Whether a deployment of this version has succeeded, or it was declared stable. */
  readonly Stable: boolean;
  /** Begins at 0; each change of the specification increments it. */
  readonly Version: number;
  /** When this version was registered, in Unix nanoseconds. */
  readonly SubmitTime: UnixNanoseconds;
  /** Index of the write that first registered the job. */
  readonly CreateIndex: number;
  /** Index of its last change, including changes of its status. */
  readonly ModifyIndex: number;
  /** Index of the last registration that changed the specification. */
  readonly JobModifyIndex: number;
  readonly UI: JobUIConfig | null;
  /** The tag of this version; null for none. */
  readonly VersionTag: JobVersionTag | null;
}

/** The stored form of `MultiregionInput`, which describes the fields. */
export interface Multiregion extends Stored<typeof multiregionBlock> {}

/** The stored form of `MultiregionStrategyInput`, which describes the fields. */
export interface MultiregionStrategy extends Stored<typeof multiregionStrategyBlock> {}

/** The stored form of `MultiregionRegionInput`, which describes the fields. */
export interface MultiregionRegion extends Stored<typeof multiregionRegionBlock> {}

/** Launches instances on a cron schedule. The stored form of `PeriodicConfigInput`, which describes the fields. */
export interface PeriodicConfig extends Stored<typeof periodicBlock> {}

/**
 * Makes the job a template that is dispatched with a payload and meta. The stored form of `ParameterizedJobConfigInput`, which
 * describes the fields.
 */
export interface ParameterizedJobConfig extends Stored<typeof parameterizedBlock> {}

/** The stored form of `JobUIConfigInput`, which describes the fields. */
export interface JobUIConfig extends Stored<typeof uiBlock> {}

/** The stored form of `JobUILinkInput`, which describes the fields; `URL` is `Url` here. */
export interface JobUILink {
  readonly Label: string;
  readonly Url: string;
}

/**
 * A name given to one version, which keeps it from being pruned. The stored form of `JobVersionTagInput`, which describes the
 * fields.
 */
export interface JobVersionTag extends Stored<typeof versionTagBlock> {}

/** How a job is scheduled (job interface, Type). */
export type JobType = (typeof jobTypes)[number];

/** All types of jobs. */
export const jobTypes = ['service', 'batch', 'system', 'sysbatch'] as const;

/**
 * `pending` before the first decision, `dead` when nothing of the job runs or is going to (docs/interfaces/jobs.md, Job status).
 */
export type JobStatus = 'pending' | 'running' | 'dead';

export const multiregionStrategyBlock = block<MultiregionStrategy>()('MultiregionStrategy', {
  MaxParallel: integerOrNull,
  OnFailure: textOrNull,
});

export const multiregionRegionBlock = block<MultiregionRegion>()('MultiregionRegion', {
  Name: text,
  Count: integerOrNull,
  Datacenters: strings,
  NodePool: text,
  Meta: stringMap,
});

export const multiregionBlock = block<Multiregion>()('Multiregion', {
  Strategy: oneAlways(multiregionStrategyBlock),
  Regions: neverNull(many(multiregionRegionBlock)),
});

export const periodicBlock = block<PeriodicConfig>()('PeriodicConfig', {
  Enabled: flagOrNull,
  Spec: textOrNull,
  Specs: neverNull(strings),
  SpecType: textOrNull,
  ProhibitOverlap: flagOrNull,
  TimeZone: textOrNull,
});

export const parameterizedBlock = block<ParameterizedJobConfig>()('ParameterizedJobConfig', {
  Payload: oneOf('optional', 'required', 'forbidden'),
  MetaRequired: strings,
  MetaOptional: strings,
});

export const uiLinkBlock = block<JobUILink>()('JobUILink', { Label: text, URL: storedAs(text, 'Url') });

export const uiBlock = block<JobUIConfig>()('JobUIConfig', { Description: text, Links: many(uiLinkBlock) });

export const versionTagBlock = block<JobVersionTag>()('JobVersionTag', {
  Name: text,
  Description: text,
  TaggedTime: integer,
});

export const jobBlock = block<Job>()('Job', {
  Stop: flagOrNull,
  Region: textOrNull,
  Namespace: textOrNull,
  ID: textOrNull,
  ParentID: reset(textOrNull),
  Name: textOrNull,
  Type: oneOfOrNull(...jobTypes),
  Priority: integerOrNull,
  AllAtOnce: flagOrNull,
  Datacenters: neverNull(strings),
  NodePool: textOrNull,
  Constraints: many(constraintBlock),
  Affinities: many(affinityBlock),
  Spreads: many(spreadBlock),
  TaskGroups: neverNull(many(taskGroupBlock)),
  Update: oneAlways(updateBlock),
  Multiregion: one(multiregionBlock),
  Periodic: one(periodicBlock),
  ParameterizedJob: one(parameterizedBlock),
  Reschedule: inputOnly(one(rescheduleBlock)),
  Migrate: inputOnly(one(migrateBlock)),
  Dispatched: reset(flag),
  DispatchIdempotencyToken: reset(textOrNull),
  Payload: bytes,
  Meta: stringMap,
  ConsulNamespace: reset(textOrNull),
  VaultNamespace: textOrNull,
  NomadTokenID: reset(textOrNull),
  Status: reset(textOrNull),
  StatusDescription: reset(textOrNull),
  Stable: reset(flagOrNull),
  Version: integerOrNullOf(uint64),
  SubmitTime: reset(integerOrNull),
  CreateIndex: reset(integerOrNullOf(uint64)),
  ModifyIndex: reset(integerOrNullOf(uint64)),
  JobModifyIndex: reset(integerOrNullOf(uint64)),
  UI: one(uiBlock),
  VersionTag: one(versionTagBlock),
});
