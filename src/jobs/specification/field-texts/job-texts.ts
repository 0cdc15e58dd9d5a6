// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings show interpolations of the job specification
import type { Block, Field, FieldSet } from '../../document/field-table.js';
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
import { cniBlock, dnsBlock, networkBlock, portBlock } from '../../document/network.js';
import { affinityBlock, constraintBlock, spreadBlock, spreadTargetBlock } from '../../document/placement.js';
import {
  checkRestartBlock,
  consulBlock,
  disconnectBlock,
  ephemeralDiskBlock,
  migrateBlock,
  rescheduleBlock,
  restartBlock,
  scalingBlock,
  updateBlock,
} from '../../document/policies.js';
import { deviceBlock, numaBlock, resourcesBlock } from '../../document/resources.js';
import { mountOptionsBlock, taskGroupBlock, volumeBlock } from '../../document/task-group.js';

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

export const groupTexts: readonly BlockTexts[] = [
  textsOf(taskGroupBlock, {
    Name: 'Unique in the job, at most 128 bytes.',
    Count: 'The number of allocations of the group; may be 0.',
    Update:
      'How running allocations are replaced when the job changes; what is left out is taken from the job. For service and system jobs.',
    Migrate: 'How allocations leave a draining node. For service jobs.',
    Constraints: 'Rules that a node must satisfy, in addition to those of the job.',
    Scaling: 'Bounds for the count, and the policy of an autoscaler.',
    RestartPolicy: 'How often a failed task is restarted on its node.',
    Disconnect: 'What happens to allocations of a disconnected node.',
    Tasks: 'The tasks, which run together on one node; at least one without a lifecycle.',
    EphemeralDisk: 'The disk that the tasks of an allocation share.',
    Meta: 'Names and values for the group; they override those of the job.',
    ReschedulePolicy: 'How often a failed allocation is replaced. For service and batch jobs.',
    Affinities: 'Rules that a node should satisfy.',
    Spreads: 'Attributes whose values the allocations of the group are spread over.',
    Networks: 'The network that the tasks share, and their ports.',
    Consul: 'Settings for the service catalogue Consul.',
    Services: 'Services that the group registers.',
    Volumes: 'Volumes that the tasks can mount, by name.',
    ShutdownDelay: 'How long tasks keep running after their services were removed from the catalogue.',
    MaxRunDuration: 'How long an allocation may run before it is ended. For batch and sysbatch jobs.',
    StopAfterClientDisconnect: 'Has no effect: use `Disconnect`.',
    MaxClientDisconnect: 'Has no effect: use `Disconnect`.',
    PreventRescheduleOnLost: 'Has no effect: use `Disconnect`.',
  }),
  textsOf(updateBlock, {
    Stagger: 'Has no effect.',
    MaxParallel: 'How many allocations are replaced at the same time. 0 replaces all at once, without a deployment.',
    HealthCheck: 'What makes an allocation healthy: `checks` of its services, `task_states`, or `manual`.',
    MinHealthyTime: 'How long an allocation must be healthy before the next one is replaced.',
    HealthyDeadline: 'How long an allocation may take to become healthy.',
    ProgressDeadline:
      'How long a deployment may go without a newly healthy allocation. 0 fails it with the first unhealthy one.',
    AutoRevert: 'Reverts to the last stable version when the deployment fails.',
    AutoPromote: 'Promotes canaries as soon as all are healthy.',
    Canary: 'How many allocations of the new version run beside the old ones until they are promoted.',
  }),
  textsOf(migrateBlock, {
    MaxParallel: 'How many allocations are moved at the same time.',
    HealthCheck: 'What makes a moved allocation healthy: `checks` or `task_states`.',
    MinHealthyTime: 'How long it must be healthy before the next one is moved.',
    HealthyDeadline: 'How long it may take to become healthy.',
  }),
  textsOf(restartBlock, {
    Attempts:
      'The number of restarts within the interval. When left out, 2 for service and system jobs, 3 for batch and sysbatch jobs.',
    Interval: 'The time in which restarts are counted. 30 minutes or 24 hours when left out.',
    Delay: 'The delay before a restart, plus up to a quarter at random.',
    Mode: 'What happens when no attempts are left: `fail` the allocation, or `delay` until the interval is over.',
    RenderTemplates: 'Renders the templates again before a restart.',
  }),
  textsOf(rescheduleBlock, {
    Attempts: 'The number of replacements within the interval, unless unlimited.',
    Interval: 'The time in which replacements are counted.',
    Delay: 'How long the first replacement waits; at least 5 seconds.',
    DelayFunction: 'How the delay grows: `constant`, `exponential` or `fibonacci`.',
    MaxDelay: 'The longest delay.',
    Unlimited: 'Replaces the allocation as often as it fails.',
  }),
  textsOf(disconnectBlock, {
    LostAfter: 'How long a disconnected allocation may take to return before it is lost.',
    StopOnClientAfter: 'How long a disconnected node keeps the allocation running.',
    Replace: 'Whether a replacement runs in the meantime.',
    Reconcile:
      'Which one is kept when the node returns: `best_score`, `longest_running`, `keep_original` or `keep_replacement`.',
  }),
  textsOf(ephemeralDiskBlock, {
    Sticky:
      'Prefers the node of the replaced allocation; on it, the replacement gets its `alloc/data` and each `local` folder.',
    SizeMB:
      'MB reserved for the allocation, including logs; at least 10, and 0 for functions. Without the block, a group that has functions only reserves none.',
    Migrate:
      'Like `Sticky`, on the same node only. On another node the disk is empty, since data is not copied: use a volume.',
  }),
  textsOf(scalingBlock, {
    ID: setByTheServer,
    Type: '`horizontal` for the count of a group; `vertical_cpu` or `vertical_mem` for a task.',
    Namespace: 'Ignored.',
    Target: 'The scaled object. The server fills in namespace, job, group and task.',
    Policy: 'The policy for the autoscaler.',
    Min: 'The smallest value; the count of the group when left out.',
    Max: 'The largest value. Required.',
    Enabled: 'Whether the autoscaler may change the value.',
    CreateIndex: setByTheServer,
    ModifyIndex: setByTheServer,
  }),
  textsOf(consulBlock, {
    Namespace: 'The namespace of the catalogue.',
    Cluster: 'The cluster of the catalogue. Only `default` is supported.',
    Partition: 'The partition that a node must be in.',
  }),
  textsOf(checkRestartBlock, {
    Limit: 'The number of consecutive failed checks after which the task is restarted; 0 disables restarts.',
    Grace: 'How long checks are ignored after the start of the task.',
    IgnoreWarnings: 'Counts a warning as passing.',
  }),
  textsOf(volumeBlock, {
    Name: 'The name by which tasks mount the volume.',
    Type: '`host` for a volume of the node, `csi` for one of a volume plugin. Others are dropped.',
    Source: 'The name of the volume on the node, or its ID.',
    ReadOnly: 'Mounts it read-only.',
    Sticky: 'Replacements of an allocation use the same volume.',
    AccessMode: 'Which concurrent uses are allowed, such as `single-node-writer`.',
    AttachmentMode: '`file-system` or `block-device`.',
    MountOptions: 'Options of the mount. For volumes of a plugin.',
    PerAlloc: 'Adds the index of the allocation to the source, so that each has a separate volume.',
  }),
  textsOf(mountOptionsBlock, {
    FSType: 'The type of the file system, such as `ext4`.',
    MountFlags: 'Options of the mount, such as `noatime`.',
  }),
];

const leftSide =
  'The attribute to compare: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`.';

export const placementTexts: readonly BlockTexts[] = [
  textsOf(constraintBlock, {
    LTarget: leftSide,
    RTarget: 'The value to compare it with.',
    Operand:
      '`=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains`, `set_contains_any`, `is_set`, `is_not_set`, `distinct_hosts` or `distinct_property`.',
  }),
  textsOf(affinityBlock, {
    LTarget: leftSide,
    RTarget: 'The value to compare it with.',
    Operand: '`=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains` or `set_contains_any`.',
    Weight: 'From -100 to 100, not 0. A negative weight keeps allocations away.',
  }),
  textsOf(spreadBlock, {
    Attribute: 'An interpolation over whose values allocations are spread, such as `${node.datacenter}`.',
    Weight: 'From 1 to 100, relative to other spreads.',
    SpreadTarget: 'The share of each value; without targets, allocations are spread evenly over all values.',
  }),
  textsOf(spreadTargetBlock, {
    Value: 'A value of the attribute.',
    Percent: 'From 0 to 100; at most 100 for all targets together. Other values share the rest.',
  }),
  textsOf(resourcesBlock, {
    CPU: 'MHz of processor time. Cannot be combined with `Cores`; 100 when neither is given.',
    Cores: 'The number of processor cores reserved for this task.',
    MemoryMB: 'MB of memory reserved for the task.',
    MemoryMaxMB:
      'The maximum MB of memory that the task may use if the node has free memory; -1 means no limit. Needs memory oversubscription.',
    DiskMB: 'Ignored: set the disk of the group instead.',
    IOPS: 'Has no effect.',
    Networks: 'An older form of the networks of the group.',
    Devices: 'Devices that the node must have.',
    NUMA: 'The NUMA placement of the cores. Only the affinity `none` is supported.',
    SecretsMB: 'MB of the memory that the secrets directory may use.',
  }),
  textsOf(deviceBlock, {
    Name: 'A type, vendor/type or vendor/type/name, such as `nvidia/gpu`.',
    Count: 'The number of devices.',
    Constraints: 'Rules that the device must satisfy, on `${device.attr.…}`.',
    Affinities: 'Rules that the device should satisfy.',
  }),
  textsOf(numaBlock, {
    Affinity: '`none`, `prefer` or `require`.',
    Devices: 'Names of devices that must be on the same NUMA node.',
  }),
  textsOf(networkBlock, {
    Mode: '`host` (the network of the node), `bridge`, `none` or `cni/<name>`.',
    Device: 'Ignored.',
    CIDR: 'Ignored.',
    IP: 'Ignored.',
    Hostname: 'The host name inside the network. No effect in mode `host`.',
    MBits: 'Has no effect.',
    DNS: 'Name resolution inside the network. No effect in mode `host`.',
    ReservedPorts: 'Static ports of the node.',
    DynamicPorts: 'Ports of the node whose numbers are chosen at placement.',
    CNI: 'Arguments for the network plugin.',
  }),
  textsOf(portBlock, {
    Label: 'The name by which tasks and services refer to the port, as `${NOMAD_PORT_<label>}`.',
    Value: 'The number of the port on the node, from 1 to 65535; for reserved ports only.',
    To: 'The port inside the network; the same number when left out; -1 means the number on the node.',
    HostNetwork: "The node's network that the port is on; `default` when left out.",
    IgnoreCollision: 'Lets other allocations reserve the same port. For the mode `host` only.',
  }),
  textsOf(dnsBlock, {
    Servers: 'Addresses of name servers.',
    Searches: 'Search domains for short names.',
    Options: 'Options of the resolver.',
  }),
  textsOf(cniBlock, { Args: 'Names and values without semicolons.' }),
];

/** What the fields of a block mean, with their units and the values that they take: one or two sentences each. */
export interface BlockTexts {
  readonly block: Block<FieldSet>;
  readonly fields: Readonly<Record<string, string>>;
}

/** The fields that a submission may have. */
type SubmittedNames<F extends FieldSet> = {
  [K in keyof F]: F[K] extends Field<infer A, infer _S> ? ([A] extends [never] ? never : K) : never;
}[keyof F];

/** The strings of one block. A field without a string, or a string without a field, is a compile error. */
export function textsOf<F extends FieldSet>(block: Block<F>, fields: Record<SubmittedNames<F>, string>): BlockTexts {
  return { block, fields };
}
