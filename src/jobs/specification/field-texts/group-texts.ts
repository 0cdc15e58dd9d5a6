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
import { mountOptionsBlock, taskGroupBlock, volumeBlock } from '../../document/task-group.js';
import { type BlockTexts, textsOf } from './field-texts.js';

const setByTheServer = 'Set by the server; ignored in a submission.';

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
