// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { AffinityInput, ConstraintInput, SpreadInput } from './placement-input.js';
import type { MigrateStrategyInput, ReschedulePolicyInput, UpdateStrategyInput } from './policy-input.js';
import type { TaskGroupInput } from './task-group-input.js';

/**
 * A job: the work to run, and its policies. The block `job` of a job specification. In every block a null field
 * counts as not given, durations are strings or nanoseconds, and an unknown field is reported as a warning.
 * docs/job-specification.md describes the blocks.
 */
export interface JobInput {
  /** Registers the job in the stopped state: no allocations run. Default: `false`. */
  readonly Stop?: boolean | null;
  /** The region that the job runs in; `global` is the region of the called server. Default: `global`. */
  readonly Region?: string | null;
  /** The namespace, which separates the IDs and rights of jobs. Default: `default`. */
  readonly Namespace?: string | null;
  /**
   * Identifies the job in its namespace. May contain slashes, but no spaces; must not end with the name of an
   * operation.
   */
  readonly ID?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly ParentID?: string | null;
  /** A display name, not necessarily unique; the ID when left out. */
  readonly Name?: string | null;
  /**
   * `service` runs until it is stopped, `batch` until it completes, `system` on every node, `sysbatch` once on
   * every node. Default: `service`.
   */
  readonly Type?: 'service' | 'batch' | 'system' | 'sysbatch' | null;
  /** From 1 to 100. Work of a higher priority is placed first. Default: `50`. */
  readonly Priority?: number | null;
  /** @deprecated Has no effect: plans never conflict, and allocations without room wait. Default: `false`. */
  readonly AllAtOnce?: boolean | null;
  /** Names of datacenters whose nodes may run the job; `*` stands for any part of a name. All when left out. */
  readonly Datacenters?: readonly string[] | null;
  /**
   * The pool whose nodes may run the job; `all` is every node. `default` when left out, unless the namespace names
   * another.
   */
  readonly NodePool?: string | null;
  /** Rules that a node must satisfy. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Rules that a node should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
  /** Attributes whose values allocations are spread over. */
  readonly Spreads?: readonly SpreadInput[] | null;
  /** The task groups of the job; at least one. */
  readonly TaskGroups?: readonly TaskGroupInput[] | null;
  /** How running allocations are replaced when the job changes; every group inherits it. */
  readonly Update?: UpdateStrategyInput | null;
  /** Runs the job in several regions. Not supported: refused. */
  readonly Multiregion?: MultiregionInput | null;
  /** Launches instances of the job on a schedule. For batch and sysbatch jobs. */
  readonly Periodic?: PeriodicConfigInput | null;
  /**
   * Makes the job a template for instances that are dispatched with a payload and meta. For batch and sysbatch
   * jobs.
   */
  readonly ParameterizedJob?: ParameterizedJobConfigInput | null;
  /** The policy of groups that have none. */
  readonly Reschedule?: ReschedulePolicyInput | null;
  /** The policy of groups that have none. */
  readonly Migrate?: MigrateStrategyInput | null;
  /** Set by the server; ignored in a submission. */
  readonly Dispatched?: boolean | null;
  /** Set by the server; ignored in a submission. */
  readonly DispatchIdempotencyToken?: string | null;
  /** The payload of a dispatch, as base64; refused in a registration. */
  readonly Payload?: string | null;
  /** Names and values for the job. Tasks find them as `NOMAD_META_<name>` in their environment. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** @deprecated Ignored. */
  readonly ConsulNamespace?: string | null;
  /** Stored with the job, without effect: Signalbox does not support Vault. */
  readonly VaultNamespace?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly NomadTokenID?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly Status?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly StatusDescription?: string | null;
  /** Set by the server; ignored in a submission. Default: `false`. */
  readonly Stable?: boolean | null;
  /** The number of the version. Used if it is greater than the stored one; otherwise the next number. Default: `0`. */
  readonly Version?: number | null;
  /** Set by the server; ignored in a submission. */
  readonly SubmitTime?: number | null;
  /** Set by the server; ignored in a submission. Default: `0`. */
  readonly CreateIndex?: number | null;
  /** Set by the server; ignored in a submission. Default: `0`. */
  readonly ModifyIndex?: number | null;
  /** Set by the server; ignored in a submission. Default: `0`. */
  readonly JobModifyIndex?: number | null;
  /** A description and links for web interfaces. */
  readonly UI?: JobUIConfigInput | null;
  /** A tag for this version, which protects it from pruning. */
  readonly VersionTag?: JobVersionTagInput | null;
}

/** Runs the job in several regions. The block `multiregion` of a job specification. */
export interface MultiregionInput {
  /** How the regions are updated. */
  readonly Strategy?: MultiregionStrategyInput | null;
  /** The regions, each with its own counts. */
  readonly Regions?: readonly MultiregionRegionInput[] | null;
}

/** How a change is rolled out over the regions. The block `strategy` of a job specification. */
export interface MultiregionStrategyInput {
  /** How many regions are updated at the same time; 0 means all. Default: `0`. */
  readonly MaxParallel?: number | null;
  /** Which regions fail with a failed one: `fail_all`, `fail_local`, or none when empty. */
  readonly OnFailure?: string | null;
}

/** One region of the job. The block `region` of a job specification. */
export interface MultiregionRegionInput {
  /** The name of the region in the configuration of its servers. */
  readonly Name?: string | null;
  /** The count of groups that have the count 0. Default: `1`. */
  readonly Count?: number | null;
  /** Replaces those of the job. */
  readonly Datacenters?: readonly string[] | null;
  /** Replaces that of the job. */
  readonly NodePool?: string | null;
  /** Added to that of the job. */
  readonly Meta?: { readonly [name: string]: string } | null;
}

/** Launches an instance of the job at every time of a schedule. The block `periodic` of a job specification. */
export interface PeriodicConfigInput {
  /** Whether the schedule is active. Default: `true`. */
  readonly Enabled?: boolean | null;
  /** One cron expression. Use `Specs`. */
  readonly Spec?: string | null;
  /**
   * Cron expressions of 5 to 7 fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Launches when any
   * of them is due.
   */
  readonly Specs?: readonly string[] | null;
  /** Always `cron`. Default: `cron`. */
  readonly SpecType?: string | null;
  /** Skips a launch while an earlier instance still runs. Default: `false`. */
  readonly ProhibitOverlap?: boolean | null;
  /** The time zone of the expressions: a name from the IANA database, such as `Europe/Berlin`. Default: `UTC`. */
  readonly TimeZone?: string | null;
}

/**
 * Makes the job a template that is dispatched with a payload and meta. The block `parameterized` of a job
 * specification.
 */
export interface ParameterizedJobConfigInput {
  /** Whether a dispatch has a payload: `optional`, `required` or `forbidden`. */
  readonly Payload?: 'optional' | 'required' | 'forbidden' | null;
  /** Meta keys that a dispatch must set. */
  readonly MetaRequired?: readonly string[] | null;
  /** Meta keys that a dispatch may set. */
  readonly MetaOptional?: readonly string[] | null;
}

/** A description and links for web interfaces. The block `ui` of a job specification. */
export interface JobUIConfigInput {
  /** A string in Markdown of at most 1000 bytes. */
  readonly Description?: string | null;
  /** Links below the description. */
  readonly Links?: readonly JobUILinkInput[] | null;
}

/** A link on the page of the job. The block `link` of a job specification. */
export interface JobUILinkInput {
  /** The label of the link. */
  readonly Label?: string | null;
  /** The target of the link. */
  readonly URL?: string | null;
}

/** The name under which a version of the job is kept. Only in the JSON form. */
export interface JobVersionTagInput {
  /** Unique among the versions of the job. */
  readonly Name?: string | null;
  /** A string of at most 1000 bytes. */
  readonly Description?: string | null;
  /** When the tag was set, in nanoseconds since 1970. */
  readonly TaggedTime?: number | null;
}
