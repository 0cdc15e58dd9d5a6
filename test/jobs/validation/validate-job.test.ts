import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import type { JobInput as StrictJobInput } from '../../../src/jobs/document/submitted-job.js';
import { documentWarnings } from '../../../src/jobs/validation/job-warnings.js';
import { errorsText, warningsText } from '../../../src/jobs/validation/problems.js';
import { type ValidationContext, validateJob } from '../../../src/jobs/validation/validate-job.js';
import { jobInputs } from '../../support/job-inputs.js';
import type { Loose } from '../../support/loose.js';
import { canonicalJob } from '../canonical-job.js';

/** Also with values that the type forbids. */
type JobInput = Loose<StrictJobInput>;

type GroupInput = NonNullable<NonNullable<JobInput['TaskGroups']>[number]>;
type TaskInput = NonNullable<NonNullable<GroupInput['Tasks']>[number]>;
type ServiceInput = NonNullable<NonNullable<GroupInput['Services']>[number]>;

const second = 1_000_000_000;
const hour = 3600 * second;

const task: TaskInput = { Name: 't', Driver: 'mock' };
const group: GroupInput = { Name: 'g', Tasks: [task] };

function problems(job: JobInput, context: ValidationContext = {}) {
  const input: JobInput = { ID: 'web', TaskGroups: [group], ...job };
  return validateJob(canonicalJob(input), context);
}

const ofGroup = (part: GroupInput): JobInput => ({ TaskGroups: [{ ...group, ...part }] });
const ofTask = (part: TaskInput): JobInput => ofGroup({ Tasks: [{ ...task, ...part }] });
const ofService = (part: ServiceInput): JobInput =>
  ofGroup({ ShutdownDelay: 1, Services: [{ PortLabel: 'p', ...part }] });
const ofCheck = (part: NonNullable<ServiceInput['Checks']>[number], service: ServiceInput = {}): JobInput =>
  ofService({ ...service, Checks: [{ Type: 'tcp', Interval: second, Timeout: second, ...part }] });
/** A task beside the main one. */
const beside = (part: TaskInput, ofAll: GroupInput = {}): JobInput =>
  ofGroup({
    ShutdownDelay: 1,
    Networks: [{ DynamicPorts: [{ Label: 'p' }] }],
    Tasks: [task, { ...task, Name: 'u', ShutdownDelay: 1, ...part }],
    ...ofAll,
  });
const checked: ServiceInput = {
  Name: 's',
  PortLabel: 'p',
  Provider: 'nomad',
  Checks: [{ Name: 'c', Type: 'tcp', Interval: second, Timeout: second }],
};
function repeated<T>(count: number, value: T): T[] {
  return new Array<T>(count).fill(value);
}

describe('a valid job has no errors', () => {
  test.each<[string, JobInput]>([
    ['the minimal one', {}],
    ['batch', { Type: 'batch' }],
    ['system', { Type: 'system' }],
    ['sysbatch', { Type: 'sysbatch' }],
    ['an ID with slashes and dots', { ID: 'a/b.c-ü' }],
    ['periodic', { Type: 'batch', Periodic: { Specs: ['@daily'] } }],
    ['parameterized', { Type: 'batch', ParameterizedJob: { MetaRequired: ['a'], MetaOptional: ['b'] } }],
    ['a disabled periodic block on a service', { Periodic: { Enabled: false } }],
    ['whole cores', ofTask({ Resources: { Cores: 2 } })],
    ['memory_max without a limit', ofTask({ Resources: { MemoryMaxMB: -1 } })],
    ['a constraint on a literal', { Constraints: [{ LTarget: 'linux', Operand: '=', RTarget: 'linux' }] }],
    ['distinct hosts', { Constraints: [{ Operand: 'distinct_hosts', RTarget: 'true' }] }],
    ['a service with a check', ofCheck({})],
    ['a service whose name is interpolated', ofService({ Name: `web-\${attr.x}` })],
    ['a count of 0', ofGroup({ Count: 0 })],
    ['a leader that is a prestart task', beside({ Leader: true, Lifecycle: { Hook: 'prestart' } })],
    ['a leader that is a sidecar', beside({ Leader: true, Lifecycle: { Hook: 'prestart', Sidecar: true } })],
    [
      'a leader of a batch job that follows the main task',
      { Type: 'batch', ...beside({ Leader: true, Lifecycle: { Hook: 'poststart' } }) },
    ],
    ['a check of a sidecar', beside({ Lifecycle: { Hook: 'prestart', Sidecar: true }, Services: [checked] })],
    [
      'a check of a prestart task that no deployment counts on',
      beside({ Lifecycle: { Hook: 'prestart' }, Services: [checked] }, { Update: { HealthCheck: 'task_states' } }),
    ],
    ['an artifact with an empty mode', ofTask({ Artifacts: [{ GetterSource: 'https://x.test/a', GetterMode: '' }] })],
    [
      'a mount with an empty propagation mode',
      {
        TaskGroups: [
          {
            ...group,
            Volumes: { v: { Name: 'v', Type: 'host', Source: 's' } },
            Tasks: [{ ...task, VolumeMounts: [{ Volume: 'v', Destination: '/v', PropagationMode: '' }] }],
          },
        ],
      },
    ],
    [
      'migrations without a health check, when none is waited for',
      ofGroup({ Migrate: { MaxParallel: 0, HealthCheck: '' } }),
    ],
    ['a service of the built-in catalogue, which has no clusters', ofService({ Provider: 'nomad', Cluster: 'other' })],
    [
      'several readers of a volume with one writer',
      ofGroup({
        Count: 2,
        Volumes: {
          v: {
            Type: 'csi',
            Source: 's',
            ReadOnly: true,
            AccessMode: 'multi-node-single-writer',
            AttachmentMode: 'file-system',
          },
        },
      }),
    ],
    ['a reschedule policy that fits', ofGroup({ ReschedulePolicy: { Attempts: 3, Unlimited: false, Interval: hour } })],
    ['restart mode fail without attempts', ofGroup({ RestartPolicy: { Attempts: 0 } })],
    [
      'a sidecar task beside a main task',
      ofGroup({ Tasks: [task, { Name: 's', Driver: 'mock', Lifecycle: { Hook: 'prestart' } }] }),
    ],
    [
      'static ports on different host networks',
      ofGroup({
        Networks: [
          {
            ReservedPorts: [
              { Label: 'a', Value: 80 },
              { Label: 'b', Value: 80, HostNetwork: 'x' },
            ],
          },
        ],
      }),
    ],
  ])('%s', (_name, job) => {
    expect(problems(job).errors).toEqual([]);
  });
});

describe('errors', () => {
  test.each<[JobInput, string]>([
    // The job
    [{ ID: '' }, 'the job has no ID'],
    [{ ID: 'a b' }, 'space'],
    [{ ID: 'a\0' }, 'NUL'],
    [{ Name: '' }, 'the job has no name'],
    [{ Type: 'core' }, 'the type must be service, batch, system or sysbatch, not "core"'],
    [{ Priority: 101 }, 'the priority must be from 1 to 100, not 101'],
    [{ Priority: -1 }, 'the priority'],
    [{ Datacenters: ['a', ''] }, 'a datacenter must not be empty'],
    [{ TaskGroups: [] }, 'the job has no task groups'],
    [{ Payload: 'aGk=' }, 'a payload is given at dispatch'],
    [{ UI: { Description: 'x'.repeat(1001) } }, '1000 bytes'],
    [{ VersionTag: { Description: 'x'.repeat(1001) } }, '1000 bytes'],
    [{ Multiregion: { Regions: [{ Name: 'x' }] } }, 'several regions'],
    [{ TaskGroups: [group, group] }, 'group "g": the name is used twice'],
    [
      { Type: 'system', Affinities: [{ LTarget: 'a', Operand: '=', RTarget: 'b' }] },
      'a system job cannot have affinities',
    ],
    [{ Type: 'system', Spreads: [{ Attribute: 'a' }] }, 'a system job cannot have spreads'],
    [ofGroup({ Count: 50_001 }), 'add up to 50001'],
    // Periodic and parameterized
    [{ Periodic: { Specs: ['@daily'] } }, 'only batch and sysbatch jobs can be periodic'],
    [{ ParameterizedJob: {} }, 'only batch and sysbatch jobs can be parameterized'],
    [{ Type: 'batch', Periodic: {} }, 'periodic: a cron expression is required'],
    [{ Type: 'batch', Periodic: { Specs: ['@daily', 'x'] } }, 'periodic: "x" is not a valid cron expression'],
    [{ Type: 'batch', Periodic: { Specs: ['@daily'], TimeZone: 'Mars/Base' } }, 'unknown time zone "Mars/Base"'],
    [{ Type: 'batch', Periodic: { Spec: 'a', Specs: ['b'] } }, 'periodic: cron and crons cannot be combined'],
    [{ Type: 'batch', Periodic: { Spec: 'a', SpecType: 'x' } }, 'must be cron'],
    [{ Type: 'batch', ParameterizedJob: { Payload: 'maybe' } }, 'payload must be optional, required or forbidden'],
    [{ Type: 'batch', ParameterizedJob: { MetaRequired: ['a'], MetaOptional: ['a'] } }, 'not both: "a"'],
    // Placement
    [{ Constraints: [{ LTarget: 'a', Operand: '' }] }, 'constraint 1: an operator is required'],
    [{ Constraints: [{ LTarget: 'a', Operand: 'like', RTarget: 'b' }] }, 'unknown operator "like"'],
    [{ Constraints: [{ LTarget: '', Operand: '=', RTarget: 'b' }] }, 'an attribute is required'],
    [{ Constraints: [{ LTarget: 'a', Operand: '=', RTarget: '' }] }, 'needs a value'],
    [{ Constraints: [{ LTarget: `\${nope.x}`, Operand: '=', RTarget: 'b' }] }, 'is not an attribute of a node'],
    [{ Constraints: [{ LTarget: 'a', Operand: 'version', RTarget: 'one' }] }, 'is not a valid version constraint'],
    [{ Constraints: [{ LTarget: 'a', Operand: 'semver', RTarget: '~> 1.0' }] }, 'is not a valid semver constraint'],
    [{ Constraints: [{ LTarget: 'a', Operand: 'is_set', RTarget: 'b' }] }, 'is_set does not accept a value'],
    [{ Constraints: [{ LTarget: 'a', Operand: 'regexp', RTarget: '(?!x)' }] }, 'not a regular expression'],
    [{ Constraints: [{ LTarget: 'a', Operand: 'distinct_property', RTarget: '-1' }] }, 'a whole number of at least 1'],
    [{ Constraints: [{ LTarget: `\${attr.a`, Operand: '=', RTarget: 'b' }] }, 'is not an attribute of a node'],
    [{ Constraints: [{ LTarget: 'a', Operand: 'distinct_property', RTarget: '0' }] }, 'at least 1'],
    [ofTask({ Constraints: [{ Operand: 'distinct_hosts' }] }), 'for jobs and groups, not for a task'],
    [{ Affinities: [{ LTarget: 'a', Operand: '=', RTarget: 'b', Weight: 101 }] }, 'affinity 1: the weight'],
    [{ Affinities: [{ LTarget: 'a', Operand: '=', RTarget: 'b', Weight: 0 }] }, 'no effect'],
    [{ Affinities: [{ LTarget: 'a', Operand: 'is_set' }] }, 'unknown operator "is_set"'],
    [{ Spreads: [{ Attribute: '' }] }, 'spread 1: an attribute is required'],
    [{ Spreads: [{ Attribute: 'a', Weight: 101 }] }, 'from 1 to 100'],
    [
      {
        Spreads: [
          {
            Attribute: 'a',
            SpreadTarget: [
              { Value: 'x', Percent: 60 },
              { Value: 'y', Percent: 60 },
            ],
          },
        ],
      },
      '120 percent',
    ],
    [{ Spreads: [{ Attribute: 'a', SpreadTarget: [{ Value: 'x' }, { Value: 'x' }] }] }, 'named twice'],
    // The group
    [ofGroup({ Name: '' }), 'group 1: a name is required'],
    [ofGroup({ Count: -1 }), 'the count must not be negative'],
    [ofGroup({ Tasks: [] }), 'at least one task is required'],
    [ofGroup({ ShutdownDelay: -1 }), 'shutdown_delay must not be negative'],
    [{ ...ofGroup({ Count: 2 }), Type: 'system' }, 'at most 1'],
    [{ ...ofGroup({ MaxRunDuration: 0 }), Type: 'batch' }, 'max_run_duration must be longer than 0'],
    [ofGroup({ MaxRunDuration: 1 }), 'a service job cannot have max_run_duration'],
    [ofGroup({ Disconnect: { LostAfter: 1, StopOnClientAfter: 1 } }), 'cannot be combined'],
    [
      ofGroup({ Disconnect: { Reconcile: 'x' } }),
      'reconcile must be best_score, longest_running, keep_original or keep_replacement, not "x"',
    ],
    [ofGroup({ EphemeralDisk: { SizeMB: 9 } }), 'at least 10 MB'],
    [ofGroup({ RestartPolicy: { Mode: 'x' } }), 'restart: mode must be fail or delay, not "x"'],
    [ofGroup({ RestartPolicy: { Attempts: 0, Mode: 'delay' } }), '0 attempts'],
    [ofGroup({ RestartPolicy: { Interval: second } }), 'at least 5 seconds'],
    [ofGroup({ RestartPolicy: { Attempts: 100, Delay: hour } }), 'do not fit'],
    [{ Type: 'system', ...ofGroup({ ReschedulePolicy: { Attempts: 1 } }) }, 'never rescheduled'],
    [ofGroup({ ReschedulePolicy: { Attempts: 1, Interval: hour } }), 'contradict each other'],
    [ofGroup({ ReschedulePolicy: { Delay: 1 } }), 'delay must be at least 5 seconds'],
    [
      ofGroup({ ReschedulePolicy: { DelayFunction: 'x' } }),
      'delay_function must be constant, exponential or fibonacci, not "x"',
    ],
    [ofGroup({ ReschedulePolicy: { MaxDelay: 6 * second } }), 'max_delay must not be shorter than delay'],
    [ofGroup({ ReschedulePolicy: { Attempts: 1e15, Unlimited: false, Interval: hour } }), 'do not fit in the interval'],
    [{ Type: 'batch', ...ofGroup({ Update: {} }) }, 'a batch job cannot have an update block'],
    [ofGroup({ Update: { HealthCheck: 'x' } }), 'update: health_check must be'],
    [ofGroup({ Update: { AutoPromote: true } }), 'auto_promote needs a canary count'],
    [ofGroup({ Update: { HealthyDeadline: 0 } }), 'healthy_deadline must be longer than 0'],
    [ofGroup({ Update: { HealthyDeadline: hour } }), 'shorter than progress_deadline'],
    [ofGroup({ Update: { Stagger: 0 } }), 'stagger must be longer than 0'],
    [{ Type: 'batch', ...ofGroup({ Migrate: {} }) }, 'cannot have a migrate block'],
    [ofGroup({ Migrate: { HealthCheck: 'manual' } }), 'migrate: health_check must be'],
    [ofGroup({ Scaling: {} }), 'the maximum must not be negative'],
    [ofGroup({ Count: 9, Scaling: { Min: 1, Max: 3 } }), 'the count 9 is above the maximum 3'],
    [ofGroup({ Count: 2, Scaling: { Min: 3, Max: 1 } }), 'the maximum 1 is below the minimum 3'],
    [ofGroup({ Tasks: [task, task] }), 'task "t": the name is used twice'],
    [
      ofGroup({
        Tasks: [
          { ...task, Leader: true },
          { ...task, Name: 'u', Leader: true },
        ],
      }),
      'only one task may be the leader',
    ],
    [ofTask({ Lifecycle: { Hook: 'prestart' } }), 'no lifecycle block'],
    [ofGroup({ Volumes: { v: { Name: 'v', Type: 'host' } } }), 'volume "v": a source is required'],
    [ofGroup({ Volumes: { v: { Type: 'csi', Source: 's' } } }), 'needs an access_mode'],
    [
      ofGroup({
        Count: 2,
        Volumes: {
          v: {
            Type: 'csi',
            Source: 's',
            AccessMode: 'multi-node-single-writer',
            AttachmentMode: 'file-system',
          },
        },
      }),
      'only one writer',
    ],
    // Networks
    [ofGroup({ Networks: [{ DynamicPorts: [{ Label: 'a' }, { Label: 'a' }] }] }), 'the label is used twice'],
    [
      ofGroup({
        Networks: [
          {
            ReservedPorts: [
              { Label: 'a', Value: 80 },
              { Label: 'b', Value: 80 },
            ],
          },
        ],
      }),
      'already reserved by "a"',
    ],
    [ofGroup({ Networks: [{ ReservedPorts: [{ Label: 'a', Value: 70_000 }] }] }), 'from 1 to 65535'],
    [ofGroup({ Networks: [{ DynamicPorts: [{ Label: 'a', To: -2 }] }] }), 'below -1'],
    [
      ofGroup({ Networks: [{ Mode: 'bridge', DynamicPorts: [{ Label: 'a', IgnoreCollision: true }] }] }),
      'ignore_collision',
    ],
    [ofGroup({ Networks: [{ Hostname: 'a..b' }] }), 'not a DNS name'],
    [ofGroup({ Networks: [{ CNI: { Args: { a: 'b;c' } } }] }), 'semicolon'],
    // The task
    [ofTask({ Name: '' }), 'task 1: a name is required'],
    [ofTask({ Name: 'alloc' }), 'is taken'],
    [ofTask({ Name: 'a/b' }), 'slash'],
    [ofTask({ Driver: '' }), 'a driver is required'],
    [ofTask({ KillTimeout: -1 }), 'kill_timeout must not be negative'],
    [ofTask({ KillTimeout: hour }), 'must not exceed the group'],
    [ofTask({ ShutdownDelay: -1 }), 'shutdown_delay must not be negative'],
    [ofTask({ Resources: { CPU: 1, Cores: 1 } }), 'cpu and cores cannot be combined'],
    [ofTask({ Resources: { CPU: 0 } }), 'at least 1 MHz'],
    [ofTask({ Resources: { MemoryMB: 9 } }), 'at least 10 MB'],
    [ofTask({ Resources: { MemoryMaxMB: 100 } }), 'must not be below memory'],
    [ofTask({ Resources: { SecretsMB: 400 } }), 'secrets (400) must not exceed memory (300)'],
    [ofTask({ Resources: { Devices: [{}] } }), 'device 1: a name is required'],
    [ofTask({ LogConfig: { MaxFiles: 30 } }), 'less than the disk of 300 MB'],
    [ofTask({ LogConfig: { MaxFiles: 0 } }), 'max_files'],
    [ofTask({ Artifacts: [{}] }), 'artifact 1: a source is required'],
    [ofTask({ Artifacts: [{ GetterSource: 's', GetterMode: 'x' }] }), 'any, file or dir'],
    [ofTask({ Artifacts: [{ GetterSource: 's', RelativeDest: '../../x' }] }), 'outside the allocation directory'],
    [ofTask({ Artifacts: [{ GetterSource: 's', GetterOptions: { checksum: 'md5:abc' } }] }), 'checksum'],
    [ofTask({ Templates: [{ DestPath: 'a' }] }), 'template 1: a source or data is required'],
    [ofTask({ Templates: [{ EmbeddedTmpl: 'x' }] }), 'a destination is required'],
    [ofTask({ Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', Perms: '999' }] }), 'octal'],
    [ofTask({ Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', ChangeMode: 'script' }] }), 'needs a change_script'],
    [ofTask({ Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', ChangeMode: 'signal', Envvars: true }] }), 'env = true'],
    [ofTask({ Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', Wait: { Min: 2, Max: 1 } }] }), 'min must not be longer'],
    [ofTask({ Templates: repeated(2, { EmbeddedTmpl: 'x', DestPath: 'a' }) }), 'is that of template 1'],
    [ofTask({ Actions: [{ Name: 'a' }] }), 'a command is required'],
    [ofTask({ Actions: [{ Name: 'a b', Command: 'x' }] }), 'without white space'],
    [ofTask({ Actions: repeated(2, { Name: 'a', Command: 'x' }) }), 'used more than once'],
    [ofTask({ DispatchPayload: { File: '../../../x' } }), 'dispatch_payload'],
    [ofTask({ Lifecycle: { Hook: 'x' } }), 'prestart, poststart or poststop'],
    [
      beside({ Leader: true, Lifecycle: { Hook: 'poststart' } }),
      'a poststart task without sidecar cannot be the leader',
    ],
    [beside({ Leader: true, Lifecycle: { Hook: 'poststop', Sidecar: true } }), 'a poststop task cannot be the leader'],
    ...(['prestart', 'poststart', 'poststop'] as const).flatMap((Hook): [JobInput, string][] => [
      [
        beside({ Lifecycle: { Hook }, Services: [checked] }),
        'task "u": service "s": check "c": the task "u" does not run',
      ],
      [
        { ...beside({ Lifecycle: { Hook } }, { Services: [{ ...checked, TaskName: 'u' }] }) },
        'service "s": check "c": the task "u" does not run beside the main tasks',
      ],
    ]),
    [ofTask({ VolumeMounts: [{ Volume: 'v' }] }), 'the group has no volume "v"'],
    [ofTask({ VolumeMounts: [{ Volume: 'v', PropagationMode: 'x' }] }), 'propagation_mode'],
    [ofTask({ CSIPluginConfig: { ID: 'x', Type: 'y' } }), 'node, controller or monolith'],
    [ofTask({ Identities: [{ Name: 'a b' }] }), 'the name must be'],
    [ofTask({ Identities: [{ Name: 'a', ChangeMode: 'signal' }] }), 'needs change_signal'],
    [ofTask({ Identities: repeated(2, { Name: 'default' }) }), 'is given twice'],
    [ofTask({ Identities: [{ Name: 'default', TTL: 5 }] }), 'cannot have a ttl'],
    [ofTask({ Identities: [{ Name: 'a', Filepath: 'x' }] }), 'filepath needs file'],
    [ofTask({ Secrets: [{ Name: 's', Provider: 'vault', Path: 'p' }] }), 'needs a vault block'],
    [ofTask({ Secrets: [{ Name: 's s', Provider: 'x', Path: 'p' }] }), 'the name must be'],
    [ofTask({ Vault: {} }), 'Signalbox does not support Vault: remove the vault block (cluster "default")'],
    [ofTask({ Vault: { Cluster: 'other' } }), 'needs an identity named vault_other'],
    [ofTask({ Schedule: {} }), 'does not support task schedules'],
    [ofTask({ Resources: { NUMA: { Affinity: 'require' } } }), 'NUMA'],
    [ofTask({ ScalingPolicies: [{ Type: 'x', Max: 1 }] }), 'vertical_cpu or vertical_mem'],
    // Services
    [ofService({ Name: 'a b' }), 'one DNS label'],
    [ofService({ AddressMode: 'x' }), 'address_mode must be auto, host, driver, alloc or alloc_ipv6, not "x"'],
    [ofService({ AddressMode: 'driver' }), 'for services of a task'],
    [ofService({ AddressMode: 'host', Address: 'x' }), 'needs address_mode auto'],
    [ofTask({ Services: [{ AddressMode: 'alloc' }] }), 'for services of a group'],
    [ofService({ Provider: 'x' }), 'consul or nomad'],
    [ofService({ Cluster: 'other' }), 'only the Consul cluster "default" is supported'],
    [ofTask({ Services: [{ Cluster: 'other' }] }), 'only the Consul cluster "default" is supported'],
    [ofService({ OnUpdate: 'x' }), 'on_update must be require_healthy, ignore_warnings or ignore, not "x"'],
    [ofGroup({ Services: [{ Name: 'a' }, { Name: 'b', Provider: 'nomad' }] }), 'the same provider'],
    [ofGroup({ Services: repeated(2, { Name: 'a' }) }), 'not unique'],
    [ofService({ TaskName: 'x' }), 'unknown task "x"'],
    [ofGroup({ Migrate: { HealthCheck: '' } }), 'migrate: health_check must be'],
    [ofCheck({ Type: 'x' }), 'the type must be http, tcp, grpc or script, not "x"'],
    [ofCheck({ Type: 'grpc' }, { Provider: 'nomad' }), 'the type must be http or tcp, not "grpc"'],
    [ofCheck({ Type: 'http' }), 'needs a path'],
    [ofCheck({ Type: 'HTTP' }), 'needs a path'],
    [ofCheck({ Type: 'TCP' }, { PortLabel: '' }), 'needs a port'],
    [ofCheck({ Type: 'Script', TaskName: 't' }), 'needs a command'],
    [ofCheck({ Type: 'http', Path: 'http://x/' }), 'must be relative'],
    [ofCheck({ Type: 'script', Command: 'x' }), 'must name its task'],
    [ofCheck({ Interval: 5 }), 'interval must be at least 1 second'],
    [ofCheck({ Timeout: 5 }), 'timeout must be at least 1 second'],
    [ofCheck({ InitialStatus: 'x' }), 'initial_status'],
    [ofCheck({}, { PortLabel: '' }), 'needs a port'],
    [ofCheck({ Expose: true }, { Provider: 'nomad' }), 'expose is not available'],
    [ofTask({ Services: [{ Connect: { Native: true } }] }), 'connect is for services of a group'],
  ])('%j: %s', (job, text) => {
    expect(problems(job).errors).toContainEqual(expect.stringContaining(text));
  });

  test('all errors are gathered', () => {
    expect(problems({ ID: '', Priority: 0, TaskGroups: [] }).errors.length).toBeGreaterThanOrEqual(2);
  });
});

describe('the installation', () => {
  test.each<[string, JobInput, ValidationContext, string]>([
    ['namespace', { Namespace: 'x' }, { hasNamespace: (name) => name === 'default' }, 'namespace "x" does not exist'],
    ['pool', { NodePool: 'x' }, { hasNodePool: () => false }, 'node pool "x" does not exist'],
    ['driver', {}, { allowsDriver: () => false }, 'drivers "mock"'],
    ['network mode', ofGroup({ Networks: [{}] }), { allowsNetworkMode: () => false }, 'network modes "host"'],
    ['count', ofGroup({ Count: 3 }), { maximumCount: 2 }, 'more than the allowed 2'],
  ])('%s', (_name, job, context, text) => {
    expect(problems(job, context).errors).toContainEqual(expect.stringContaining(text));
    expect(problems(job).errors).not.toContainEqual(expect.stringContaining(text));
  });

  test('the built-in node pools always exist', () => {
    expect(problems({ NodePool: 'all' }, { hasNodePool: () => false }).errors).toEqual([]);
  });
});

test('what a batch job may not have is reported once', () => {
  const { errors } = problems({ ...ofGroup({ Migrate: { MaxParallel: -1 } }), Type: 'batch' });
  expect(errors).toEqual(['group "g": migrate: a batch job cannot have a migrate block']);
});

describe('warnings', () => {
  test.each<[JobInput, string]>([
    [ofGroup({ Count: 2, Update: { MaxParallel: 3 } }), 'max_parallel (3) is above the count (2)'],
    [
      {
        TaskGroups: [
          { ...group, Update: { Canary: 1, AutoPromote: true } },
          { ...group, Name: 'h', Update: { Canary: 1 } },
        ],
      },
      'auto_promote',
    ],
    [{ Type: 'batch', Periodic: { Spec: '@daily' } }, 'cron is deprecated'],
    [ofGroup({ Services: [{}] }), 'shutdown_delay'],
    [ofTask({ Services: [{}] }), 'shutdown_delay'],
    [ofGroup({ Networks: [{ MBits: 5 }] }), 'mbits'],
    [ofTask({ Resources: { IOPS: 5 } }), 'iops'],
    [ofTask({ Resources: { Networks: [{}] } }), 'networks belong in the group'],
    [ofTask({ Identities: [{ Name: 'x' }] }), 'without an audience'],
    [ofTask({ Identities: [{ Name: 'x', Audience: ['a', 'b'], TTL: 1 }] }), 'several audiences'],
  ])('%j: %s', (job, text) => {
    const { errors, warnings } = problems(job);
    expect(errors).toEqual([]);
    expect(warnings).toContainEqual(expect.stringContaining(text));
  });

  test('memory_max while oversubscription is off', () => {
    const job = ofTask({ Resources: { MemoryMaxMB: 400 } });
    expect(problems(job).warnings).toHaveLength(1);
    expect(problems(job, { allowsMemoryOversubscription: true }).warnings).toEqual([]);
  });

  test('a disk that is to be copied to other nodes; one that stays on its node is carried over', () => {
    const [migrating, sticky] = [{ Migrate: true }, { Sticky: true }].map((EphemeralDisk) =>
      ofGroup({ EphemeralDisk }),
    );
    expect(problems(migrating as JobInput).warnings).toEqual([]);
    expect(problems(migrating as JobInput, { unmetByNodes: () => [] }).warnings).toEqual([
      expect.stringContaining('carries the data over on the same node only; on another node the disk is empty'),
    ]);
    expect(problems(sticky as JobInput, { unmetByNodes: () => [] }).warnings).toEqual([]);
  });

  test('launches that a change of clocks skips', () => {
    const job: JobInput = { Type: 'batch', Periodic: { Specs: ['30 2 * * *'], TimeZone: 'Europe/Berlin' } };
    expect(problems(job).warnings).toEqual([]);
    const beforeTheChange = Date.parse('2026-03-01T00:00:00Z');
    expect(problems(job, { now: beforeTheChange }).warnings).toContainEqual(expect.stringMatching(/^periodic: /));
  });

  test('keys of a document that a registration leaves out', () => {
    const stored = { MaxClientDisconnect: null, StopAfterClientDisconnect: 0, PreventRescheduleOnLost: false };
    const document = {
      TaskGroups: [
        { Name: 'g', MaxClientDisconnect: 5 },
        { Name: 'h', ...stored, Nmae: 'x' },
      ],
    };
    expect(documentWarnings(document, decodeJob(document)._unsafeUnwrap())).toEqual([
      expect.stringContaining('Nmae'),
      'group "g": max_client_disconnect has no effect, use disconnect.lost_after',
    ]);
  });
});

test('the layouts of the two texts', () => {
  expect(errorsText(['a'])).toBe('1 error occurred:\n\t* a\n\n');
  expect(errorsText(['a', 'b'])).toBe('2 errors occurred:\n\t* a\n\t* b\n\n');
  expect(warningsText([])).toBe('');
  expect(warningsText(['a'])).toBe('1 warning:\n\n* a');
  expect(warningsText(['a', 'b'])).toBe('2 warnings:\n\n* a\n* b');
});

test('no job makes the checks throw', () => {
  fc.assert(
    fc.property(jobInputs, (job) => {
      problems(job);
    }),
    { numRuns: 60 },
  );
});
