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
} from '../../document/fields/policy-fields.js';
import { mountOptionsBlock, taskGroupBlock, volumeBlock } from '../../document/fields/task-group-fields.js';
import { type BlockTexts, textsOf } from './field-texts.js';

const setByTheServer = 'Set by the server; ignored in a submission.';

export const groupTexts: readonly BlockTexts[] = [
  textsOf(taskGroupBlock, {
    Name: 'Unique in the job, at most 128 bytes.',
    Count: 'How many allocations of the group run. 0 is none.',
    Update:
      'How running allocations are replaced when the job changes; what is left out is taken from the job. For service and system jobs.',
    Migrate: 'How allocations leave a draining node. For service jobs.',
    Constraints: 'Rules that a node must satisfy, beside those of the job.',
    Scaling: 'Bounds for the count, and the policy of an autoscaler.',
    RestartPolicy: 'How often a failed task is started again on its node.',
    Disconnect: 'What happens to allocations whose node is out of reach.',
    Tasks: 'The tasks that run together on one node. At least one without a lifecycle is needed.',
    EphemeralDisk: 'The disk that the tasks of an allocation share.',
    Meta: 'Names and values for the group; they win over those of the job.',
    ReschedulePolicy: 'How often a failed allocation is replaced. For service and batch jobs.',
    Affinities: 'Rules that a node should satisfy.',
    Spreads: 'Attributes over whose values the allocations of the group are spread.',
    Networks: 'The network that the tasks share, and their ports.',
    Consul: 'Settings for the service catalogue Consul.',
    Services: 'Services that the group registers.',
    Volumes: 'Volumes that the tasks can mount, by name.',
    ShutdownDelay: 'How long tasks run on after their services were taken out of the catalogue.',
    MaxRunDuration: 'How long an allocation may run before it is ended. For batch and sysbatch jobs.',
    StopAfterClientDisconnect: 'Has no effect any more: use `Disconnect`.',
    MaxClientDisconnect: 'Has no effect any more: use `Disconnect`.',
    PreventRescheduleOnLost: 'Has no effect any more: use `Disconnect`.',
  }),
  textsOf(updateBlock, {
    Stagger: 'Has no effect any more.',
    MaxParallel: 'How many allocations are replaced at the same time. 0 replaces all at once, without a deployment.',
    HealthCheck: 'What makes an allocation healthy: `checks` of its services, `task_states`, or `manual`.',
    MinHealthyTime: 'How long an allocation must be healthy before the next one is replaced.',
    HealthyDeadline: 'How long an allocation may take to become healthy.',
    ProgressDeadline:
      'How long a deployment may go without a newly healthy allocation. 0 fails it with the first unhealthy one.',
    AutoRevert: 'Goes back to the last stable version when the deployment fails.',
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
      'How many restarts within the interval. 2 for service and system jobs, 3 for batch and sysbatch jobs when left out.',
    Interval: 'The time in which restarts are counted. 30 minutes or 24 hours when left out.',
    Delay: 'How long a restart waits, with up to a quarter more by chance.',
    Mode: 'What happens when there are no attempts left: `fail` the allocation, or `delay` until the interval is over.',
    RenderTemplates: 'Renders the templates anew before a restart.',
  }),
  textsOf(rescheduleBlock, {
    Attempts: 'How many new placements within the interval, when they are not unlimited.',
    Interval: 'The time in which placements are counted.',
    Delay: 'How long the first new placement waits; at least 5 seconds.',
    DelayFunction: 'How the delay grows: `constant`, `exponential` or `fibonacci`.',
    MaxDelay: 'The longest delay.',
    Unlimited: 'Places the allocation anew for as long as it fails.',
  }),
  textsOf(disconnectBlock, {
    LostAfter: 'How long an allocation is waited for before it counts as lost.',
    StopOnClientAfter: 'How long a node that is out of reach lets the allocation run.',
    Replace: 'Whether another allocation runs in its place meanwhile.',
    Reconcile:
      'Which one stays when the node is back: `best_score`, `longest_running`, `keep_original` or `keep_replacement`.',
  }),
  textsOf(ephemeralDiskBlock, {
    Sticky:
      'Prefers the node that the replaced allocation was on, and there gives its `alloc/data` and each `local` folder to the replacement.',
    SizeMB: 'MB that are set aside for the allocation, logs included. At least 10.',
    Migrate:
      'As `Sticky`, on the same node. Data is not copied to another node, where the disk is empty: use a volume.',
  }),
  textsOf(scalingBlock, {
    ID: setByTheServer,
    Type: '`horizontal` for the count of a group; `vertical_cpu` or `vertical_mem` for a task.',
    Namespace: 'Ignored.',
    Target: 'What is scaled. Namespace, job, group and task are filled in.',
    Policy: 'The policy, as the autoscaler reads it.',
    Min: 'The least value; the count of the group when left out.',
    Max: 'The greatest value. Needed.',
    Enabled: 'Whether the autoscaler may change the value.',
    CreateIndex: setByTheServer,
    ModifyIndex: setByTheServer,
  }),
  textsOf(consulBlock, {
    Namespace: 'The namespace of the catalogue.',
    Cluster: 'The cluster of the catalogue. Only `default` is available here.',
    Partition: 'The partition that a node must be in.',
  }),
  textsOf(checkRestartBlock, {
    Limit: 'After how many failed checks in a row the task is restarted. 0 is never.',
    Grace: 'How long checks do not count after the task started.',
    IgnoreWarnings: 'Counts a warning as passing.',
  }),
  textsOf(volumeBlock, {
    Name: 'The name by which tasks mount the volume.',
    Type: '`host` for a volume of the node, `csi` for one of a volume plugin. Others are dropped.',
    Source: 'The name of the volume on the node, or its ID.',
    ReadOnly: 'Mounts it for reading only.',
    Sticky: 'Keeps an allocation with the volume that it had.',
    AccessMode: 'Who may use the volume at the same time, such as `single-node-writer`.',
    AttachmentMode: '`file-system` or `block-device`.',
    MountOptions: 'Options of the mount. For volumes of a plugin.',
    PerAlloc: 'Adds the index of the allocation to the source, so that each has a separate volume.',
  }),
  textsOf(mountOptionsBlock, {
    FSType: 'The type of the file system, such as `ext4`.',
    MountFlags: 'Options of the mount, such as `noatime`.',
  }),
];
