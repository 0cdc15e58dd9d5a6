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
} from '../../document/fields/job-fields.js';
import { type BlockTexts, textsOf } from './field-texts.js';

const setByTheServer = 'Set by the server; ignored in a submission.';

export const jobTexts: readonly BlockTexts[] = [
  textsOf(jobBlock, {
    Stop: 'Registers the job as a stopped one: nothing of it runs.',
    Region: 'The region that the job runs in; `global` is the region of the server that is asked.',
    Namespace: 'The namespace, which separates the IDs and rights of jobs.',
    ID: 'What the job is known by in its namespace. May have slashes; not spaces, and not the name of an operation at its end.',
    ParentID: setByTheServer,
    Name: 'A name for people, which need not be unique; the ID when left out.',
    Type: '`service` runs until it is stopped, `batch` until it is done, `system` on every node, `sysbatch` once on every node.',
    Priority: 'From 1 to 100. Work of a higher priority is placed first.',
    AllAtOnce: 'Has no effect here: plans never conflict with each other, and what finds no room waits.',
    Datacenters:
      'Names of datacenters whose nodes may run the job; `*` stands for any part of a name. All when left out.',
    NodePool:
      'The pool whose nodes may run the job; `all` is every node. `default` when left out, unless the namespace names another.',
    Constraints: 'Rules that a node must satisfy.',
    Affinities: 'Rules that a node should satisfy.',
    Spreads: 'Attributes over whose values allocations are spread.',
    TaskGroups: 'The groups of tasks that the job consists of. At least one is needed.',
    Update: 'How running allocations are replaced when the job changes; every group inherits it.',
    Multiregion: 'Runs the job in several regions. Refused here.',
    Periodic: 'Launches instances of the job by the clock. For batch and sysbatch jobs.',
    ParameterizedJob:
      'Makes the job a template whose instances are dispatched with a payload and meta. For batch and sysbatch jobs.',
    Reschedule: 'The policy of groups that have none.',
    Migrate: 'The policy of groups that have none.',
    Dispatched: setByTheServer,
    DispatchIdempotencyToken: setByTheServer,
    Payload: 'Given at dispatch, as base64. A registration with one is refused.',
    Meta: 'Names and values for the job. Tasks find them as `NOMAD_META_<name>` in their environment.',
    ConsulNamespace: 'Ignored.',
    VaultNamespace: 'Kept with the job. There is no Vault here.',
    NomadTokenID: setByTheServer,
    Status: setByTheServer,
    StatusDescription: setByTheServer,
    Stable: setByTheServer,
    Version: 'The number of the version. Kept when it is ahead of the stored one; else the next number is taken.',
    SubmitTime: setByTheServer,
    CreateIndex: setByTheServer,
    ModifyIndex: setByTheServer,
    JobModifyIndex: setByTheServer,
    UI: 'A description and links for web interfaces.',
    VersionTag: 'A name for this version, which keeps it from being pruned.',
  }),
  textsOf(multiregionBlock, {
    Strategy: 'How the regions are updated.',
    Regions: 'The regions, each with its own counts.',
  }),
  textsOf(multiregionStrategyBlock, {
    MaxParallel: 'How many regions are updated at the same time; 0 is all.',
    OnFailure: 'What a failed region does to the others: `fail_all`, `fail_local`, or nothing.',
  }),
  textsOf(multiregionRegionBlock, {
    Name: 'The region, as its servers are configured.',
    Count: 'The count of groups that have the count 0.',
    Datacenters: 'Replaces those of the job.',
    NodePool: 'Replaces that of the job.',
    Meta: 'Added to that of the job.',
  }),
  textsOf(periodicBlock, {
    Enabled: 'Whether the job is launched by the clock.',
    Spec: 'One cron expression. Use `Specs`.',
    Specs:
      'Cron expressions of 5 to 7 fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Launches when any of them is due.',
    SpecType: 'Always `cron`.',
    ProhibitOverlap: 'Leaves a launch out while an earlier instance still runs.',
    TimeZone: 'The name in the IANA database of the time zone that the expressions are in, such as `Europe/Berlin`.',
  }),
  textsOf(parameterizedBlock, {
    Payload: 'Whether a dispatch has a payload: `optional`, `required` or `forbidden`.',
    MetaRequired: 'Names of meta that a dispatch must give.',
    MetaOptional: 'Names of meta that a dispatch may give.',
  }),
  textsOf(uiBlock, {
    Description: 'A string in Markdown of at most 1000 bytes.',
    Links: 'Links beside the description.',
  }),
  textsOf(uiLinkBlock, { Label: 'The text of the link.', URL: 'Where it leads.' }),
  textsOf(versionTagBlock, {
    Name: 'Unique among the versions of the job.',
    Description: 'A string of at most 1000 bytes.',
    TaggedTime: 'When the tag was given, in nanoseconds since 1970.',
  }),
];
