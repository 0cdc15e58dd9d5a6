import {
  jobBlock,
  multiregionBlock,
  multiregionRegionBlock,
  multiregionStrategyBlock,
  parameterizedBlock,
  periodicBlock,
  uiBlock,
  uiLinkBlock,
  versionTagBlock,
} from '../../document/job.js';
import { type BlockTexts, textsOf } from './field-texts.js';

const setByTheServer = 'Set by the server; ignored in a submission.';

export const jobTexts: readonly BlockTexts[] = [
  textsOf(jobBlock, {
    Stop: 'Registers the job in the stopped state: no allocations run.',
    Region: 'The region that the job runs in; `global` is the region of the called server.',
    Namespace: 'The namespace, which separates the IDs and rights of jobs.',
    ID: 'Identifies the job in its namespace. May contain slashes, but no spaces; must not end with the name of an operation.',
    ParentID: setByTheServer,
    Name: 'A display name, not necessarily unique; the ID when left out.',
    Type: '`service` runs until it is stopped, `batch` until it completes, `system` on every node, `sysbatch` once on every node.',
    Priority: 'From 1 to 100. Work of a higher priority is placed first.',
    AllAtOnce: 'Has no effect: plans never conflict, and allocations without room wait.',
    Datacenters:
      'Names of datacenters whose nodes may run the job; `*` stands for any part of a name. All when left out.',
    NodePool:
      'The pool whose nodes may run the job; `all` is every node. `default` when left out, unless the namespace names another.',
    Constraints: 'Rules that a node must satisfy.',
    Affinities: 'Rules that a node should satisfy.',
    Spreads: 'Attributes whose values allocations are spread over.',
    TaskGroups: 'The task groups of the job; at least one.',
    Update: 'How running allocations are replaced when the job changes; every group inherits it.',
    Multiregion: 'Runs the job in several regions. Not supported: refused.',
    Periodic: 'Launches instances of the job on a schedule. For batch and sysbatch jobs.',
    ParameterizedJob:
      'Makes the job a template for instances that are dispatched with a payload and meta. For batch and sysbatch jobs.',
    Reschedule: 'The policy of groups that have none.',
    Migrate: 'The policy of groups that have none.',
    Dispatched: setByTheServer,
    DispatchIdempotencyToken: setByTheServer,
    Payload: 'The payload of a dispatch, as base64; refused in a registration.',
    Meta: 'Names and values for the job. Tasks find them as `NOMAD_META_<name>` in their environment.',
    ConsulNamespace: 'Ignored.',
    VaultNamespace: 'Stored with the job, without effect: Signalbox does not support Vault.',
    NomadTokenID: setByTheServer,
    Status: setByTheServer,
    StatusDescription: setByTheServer,
    Stable: setByTheServer,
    Version: 'The number of the version. Used if it is greater than the stored one; otherwise the next number.',
    SubmitTime: setByTheServer,
    CreateIndex: setByTheServer,
    ModifyIndex: setByTheServer,
    JobModifyIndex: setByTheServer,
    UI: 'A description and links for web interfaces.',
    VersionTag: 'A tag for this version, which protects it from pruning.',
  }),
  textsOf(multiregionBlock, {
    Strategy: 'How the regions are updated.',
    Regions: 'The regions, each with its own counts.',
  }),
  textsOf(multiregionStrategyBlock, {
    MaxParallel: 'How many regions are updated at the same time; 0 means all.',
    OnFailure: 'Which regions fail with a failed one: `fail_all`, `fail_local`, or none when empty.',
  }),
  textsOf(multiregionRegionBlock, {
    Name: 'The name of the region in the configuration of its servers.',
    Count: 'The count of groups that have the count 0.',
    Datacenters: 'Replaces those of the job.',
    NodePool: 'Replaces that of the job.',
    Meta: 'Added to that of the job.',
  }),
  textsOf(periodicBlock, {
    Enabled: 'Whether the schedule is active.',
    Spec: 'One cron expression. Use `Specs`.',
    Specs:
      'Cron expressions of 5 to 7 fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Launches when any of them is due.',
    SpecType: 'Always `cron`.',
    ProhibitOverlap: 'Skips a launch while an earlier instance still runs.',
    TimeZone: 'The time zone of the expressions: a name from the IANA database, such as `Europe/Berlin`.',
  }),
  textsOf(parameterizedBlock, {
    Payload: 'Whether a dispatch has a payload: `optional`, `required` or `forbidden`.',
    MetaRequired: 'Meta keys that a dispatch must set.',
    MetaOptional: 'Meta keys that a dispatch may set.',
  }),
  textsOf(uiBlock, {
    Description: 'A string in Markdown of at most 1000 bytes.',
    Links: 'Links below the description.',
  }),
  textsOf(uiLinkBlock, { Label: 'The label of the link.', URL: 'The target of the link.' }),
  textsOf(versionTagBlock, {
    Name: 'Unique among the versions of the job.',
    Description: 'A string of at most 1000 bytes.',
    TaggedTime: 'When the tag was set, in nanoseconds since 1970.',
  }),
];
