import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicaliseJob, canonicaliseSubmitted } from '../../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import { equalSpec } from '../../../src/jobs/document/equal-spec.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { JobInput as StrictJobInput } from '../../../src/jobs/document/submitted-job.js';
import { prepareJob } from '../../../src/jobs/prepare-job.js';
import { jobInputs } from '../../support/job-inputs.js';
import type { Loose } from '../../support/loose.js';

/** Also with values that the type forbids. */
type JobInput = Loose<StrictJobInput>;

const second = 1_000_000_000;
const minute = 60 * second;

function submitted(input: JobInput) {
  return decodeJob(input)._unsafeUnwrap();
}

function stored(input: JobInput): Job {
  return canonicaliseJob(submitted(input));
}

function group(input: JobInput) {
  const first = stored(input).TaskGroups[0];
  if (first === undefined) throw new Error('the job has no group');
  return first;
}

function task(input: JobInput) {
  const first = group(input).Tasks[0];
  if (first === undefined) throw new Error('the group has no task');
  return first;
}

const minimal: JobInput = {
  ID: 'web',
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock', Config: { x: 1 } }] }],
};

describe('canonicaliseJob', () => {
  test('the minimal service job has the documented defaults', () => {
    const job = stored(minimal);
    expect(job).toMatchObject({
      ID: 'web',
      Name: 'web',
      Namespace: 'default',
      Region: 'global',
      Type: 'service',
      Priority: 50,
      Datacenters: ['*'],
      NodePool: '',
      Version: 0,
      Constraints: null,
      Periodic: null,
      Update: {
        Stagger: 30 * second,
        MaxParallel: 1,
        HealthCheck: '',
        MinHealthyTime: 0,
        HealthyDeadline: 0,
        ProgressDeadline: 0,
        AutoRevert: false,
        AutoPromote: false,
        Canary: 0,
      },
    });
    expect(job.TaskGroups[0]).toMatchObject({
      Count: 1,
      Update: {
        Stagger: 30 * second,
        MaxParallel: 1,
        HealthCheck: 'checks',
        MinHealthyTime: 10 * second,
        HealthyDeadline: 5 * minute,
        ProgressDeadline: 10 * minute,
        AutoRevert: false,
        AutoPromote: false,
        Canary: 0,
      },
      RestartPolicy: { Attempts: 2, Interval: 30 * minute, Delay: 15 * second, Mode: 'fail', RenderTemplates: false },
      ReschedulePolicy: {
        Attempts: 0,
        Interval: 0,
        Delay: 30 * second,
        DelayFunction: 'exponential',
        MaxDelay: 60 * minute,
        Unlimited: true,
      },
      Migrate: { MaxParallel: 1, HealthCheck: 'checks', MinHealthyTime: 10 * second, HealthyDeadline: 5 * minute },
      EphemeralDisk: { Sticky: false, SizeMB: 300, Migrate: false },
      Constraints: null,
      StopAfterClientDisconnect: null,
      MaxClientDisconnect: null,
      PreventRescheduleOnLost: false,
    });
    expect(job.TaskGroups[0]?.Tasks[0]).toMatchObject({
      KillTimeout: 5 * second,
      LogConfig: { MaxFiles: 10, MaxFileSizeMB: 10, Disabled: false },
      Resources: { CPU: 100, Cores: 0, MemoryMB: 300, MemoryMaxMB: 0, Networks: null },
      Identity: { Name: 'default', Audience: ['nomadproject.io'], TTL: 0 },
      Identities: null,
      CSIPluginConfig: null,
    });
  });

  test('input-only keys are gone, keys of the registration are not taken over', () => {
    const job = stored({
      ...minimal,
      Reschedule: { Attempts: 1 },
      Status: 'dead',
      CreateIndex: 7,
      ParentID: 'x',
      Stable: true,
    });
    expect(job).not.toHaveProperty('Reschedule');
    expect(job).not.toHaveProperty('Migrate');
    expect(job).toMatchObject({ Status: '', CreateIndex: 0, ParentID: '', Stable: false });
  });

  test('Stop, Version, VersionTag and Payload are taken over', () => {
    const VersionTag = { Name: 'v', Description: '', TaggedTime: 1 };
    expect(stored({ ...minimal, Stop: true, Version: 4, VersionTag, Payload: 'aGk=' })).toMatchObject({
      Stop: true,
      Version: 4,
      VersionTag,
      Payload: 'aGk=',
    });
  });

  test.each([
    ['batch', { Attempts: 3, Interval: 1440 * minute }, { Attempts: 1, DelayFunction: 'constant', Unlimited: false }],
    ['system', { Attempts: 2, Interval: 30 * minute }, null],
    ['sysbatch', { Attempts: 3, Interval: 1440 * minute }, null],
  ])('a %s job has the policies of its type', (Type, restart, reschedule) => {
    const policies = group({ ...minimal, Type });
    expect(policies.RestartPolicy).toMatchObject(restart);
    if (reschedule === null) expect(policies.ReschedulePolicy).toBeNull();
    else expect(policies.ReschedulePolicy).toMatchObject(reschedule);
    expect(policies.Migrate).toBeNull();
    expect(policies.Update === null).toBe(Type === 'batch' || Type === 'sysbatch');
  });

  test('policies of the job lie under those of the group, those of the group under those of the task', () => {
    const job: JobInput = {
      ...minimal,
      Update: { MaxParallel: 4, Canary: 2 },
      Reschedule: { Attempts: 9, Unlimited: false },
      TaskGroups: [
        {
          Name: 'g',
          Update: { Canary: 1 },
          ReschedulePolicy: { Delay: 7 * second },
          RestartPolicy: { Attempts: 5, Mode: 'delay' },
          Tasks: [{ Name: 't', Driver: 'mock', RestartPolicy: { Attempts: 8 } }],
        },
      ],
    };
    expect(group(job).Update).toMatchObject({ MaxParallel: 4, Canary: 1, Stagger: 30 * second });
    expect(group(job).ReschedulePolicy).toMatchObject({ Attempts: 9, Delay: 7 * second, Unlimited: false });
    expect(task(job).RestartPolicy).toMatchObject({ Attempts: 8, Mode: 'delay', Delay: 15 * second });
  });

  test.each([
    [{}, { CPU: 100, Cores: 0 }],
    [{ Cores: 2 }, { CPU: 0, Cores: 2 }],
    [{ CPU: 500 }, { CPU: 500, Cores: 0 }],
  ])('resources %j become %j', (given, expected) => {
    expect(task({ TaskGroups: [{ Tasks: [{ Resources: given }] }] }).Resources).toMatchObject(expected);
  });

  test('a count comes from the scaling minimum, a scaling minimum from the count', () => {
    expect(group({ TaskGroups: [{ Scaling: { Min: 3, Max: 5 } }] }).Count).toBe(3);
    expect(group({ ID: 'j', TaskGroups: [{ Name: 'g', Count: 2, Scaling: { Max: 5 } }] }).Scaling).toMatchObject({
      Min: 2,
      Max: 5,
      Enabled: true,
      Type: 'horizontal',
      Target: { Namespace: 'default', Job: 'j', Group: 'g' },
    });
    expect(group({ TaskGroups: [{ Scaling: {} }] }).Scaling?.Max).toBe(-1);
  });

  test('empty lists and maps are stored as null', () => {
    const job: JobInput = {
      Meta: {},
      Constraints: [],
      TaskGroups: [
        { Networks: [], Volumes: {}, Services: [{ Tags: [], Checks: [] }], Tasks: [{ Env: {}, Config: {} }] },
      ],
    };
    expect(stored(job)).toMatchObject({ Meta: null, Constraints: null });
    expect(group(job)).toMatchObject({ Networks: null, Volumes: null, Services: [{ Tags: null, Checks: null }] });
    expect(task(job)).toMatchObject({ Env: null, Config: null });
  });

  test('network fields without a value are left out, a port without a host network gets the default one', () => {
    const job: JobInput = { TaskGroups: [{ Networks: [{ Mode: 'host', DynamicPorts: [{ Label: 'http' }] }] }] };
    expect(group(job).Networks).toEqual([{ Mode: 'host', DynamicPorts: [{ Label: 'http', HostNetwork: 'default' }] }]);
  });

  test('volume requests of an unknown type are dropped', () => {
    const job: JobInput = {
      TaskGroups: [{ Volumes: { a: { Name: 'a', Type: 'host' }, b: { Name: 'b', Type: 'tape' } } }],
    };
    expect(Object.keys(group(job).Volumes ?? {})).toEqual(['a']);
  });

  test('services are named after the task or group that they belong to, and names may contain its name', () => {
    const job: JobInput = {
      ID: 'web',
      TaskGroups: [
        {
          Name: 'g',
          Services: [{}, { Name: `x-\${BASE}` }, { Name: `\${JOB}-\${TASKGROUP}-\${node.x}`, Provider: 'nomad' }],
          Tasks: [{ Name: 't', Services: [{ Checks: [{ Type: 'tcp' }] }] }],
        },
      ],
      Namespace: 'apps',
    };
    const services = group(job).Services ?? [];
    expect(services.map((service) => service.Name)).toEqual(['web-g', 'x-web-g-group', `web-g-\${node.x}`]);
    expect(services.map((service) => service.Namespace)).toEqual(['default', 'default', 'apps']);
    expect(task(job).Services?.[0]).toMatchObject({
      Name: 'web-g-t',
      TaskName: 't',
      Checks: [{ Name: 'service: "web-g-t" check', TaskName: 't', OnUpdate: 'require_healthy', CheckRestart: null }],
    });
  });

  test("a check's restart rule lies over the service's", () => {
    const service = {
      CheckRestart: { Limit: 3, Grace: 9 * second },
      Checks: [{ CheckRestart: { Limit: 0, IgnoreWarnings: true } }, {}],
    };
    const checks = group({ TaskGroups: [{ Services: [service] }] }).Services?.[0]?.Checks ?? [];
    expect(checks.map((check) => check.CheckRestart)).toEqual([
      { Limit: 3, Grace: 9 * second, IgnoreWarnings: true },
      { Limit: 3, Grace: 9 * second, IgnoreWarnings: false },
    ]);
  });

  test('the identity named default stands apart from the others', () => {
    const Identities = [
      { Name: 'a', Audience: ['x'] },
      { Name: 'default', Env: true, Audience: ['mine'] },
    ];
    expect(task({ TaskGroups: [{ Tasks: [{ Identities }] }] })).toMatchObject({
      Identity: { Name: 'default', Env: true, Audience: ['nomadproject.io'] },
      Identities: [{ Name: 'a', Audience: ['x'] }],
    });
  });

  test('template, artifact, volume mount and plugin defaults', () => {
    const job: JobInput = {
      TaskGroups: [
        {
          Tasks: [
            {
              KillSignal: 'sigint',
              Templates: [{ ChangeMode: 'signal' }, { ChangeSignal: 'sighup', ChangeScript: {} }],
              Artifacts: [{ GetterSource: 'https://x/y.zip?a=b', GetterMode: 'file' }, { GetterSource: 'z' }],
              VolumeMounts: [{ Volume: 'v' }],
              CSIPluginConfig: { ID: 'p' },
              Vault: {},
            },
          ],
        },
      ],
    };
    expect(task(job)).toMatchObject({
      KillSignal: 'sigint',
      Templates: [
        { ChangeMode: 'signal', ChangeSignal: 'SIGHUP', Perms: '0644', Splay: 5 * second, LeftDelim: '{{', Uid: null },
        { ChangeMode: 'restart', ChangeSignal: 'SIGHUP', ChangeScript: { Args: [], Timeout: 5 * second } },
      ],
      Artifacts: [{ RelativeDest: 'local/y.zip?a=b' }, { GetterMode: 'any', RelativeDest: 'local/' }],
      VolumeMounts: [{ PropagationMode: 'private', ReadOnly: false }],
      CSIPluginConfig: { MountDir: '/csi', StagePublishBaseDir: '/local/csi', HealthTimeout: 30 * second },
      Vault: { Env: true, ChangeMode: 'restart', ChangeSignal: 'SIGHUP', Cluster: 'default' },
    });
  });
});

test('a file without a name is fetched into the directory itself', () => {
  const input: JobInput = {
    ID: 'web',
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock', Artifacts: [{ GetterMode: 'file' }] }] }],
  };
  expect(task(input).Artifacts?.[0]?.RelativeDest).toBe('local');
});

test.each([
  ['.', 'local'],
  ['git::https://host/a/.', 'local'],
  ['..', '.'],
  ['https://host/a/../', '.'],
  ['https://host/...', 'local/...'],
])('a file from %j is fetched to %j: the path is a clean one', (GetterSource, destination) => {
  const Artifacts = [{ GetterMode: 'file', GetterSource }];
  const input: JobInput = { ID: 'web', TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock', Artifacts }] }] };
  expect(task(input).Artifacts?.[0]?.RelativeDest).toBe(destination);
});

test('empty lists and maps of cores, secrets and links are null in both forms', () => {
  const input: JobInput = {
    ID: 'web',
    UI: { Description: 'd', Links: [] },
    TaskGroups: [
      { Name: 'g', Tasks: [{ Name: 't', Resources: { NUMA: { Devices: [] } }, Secrets: [{ Config: {}, Env: {} }] }] },
    ],
  };
  const expected = {
    UI: { Links: null },
    TaskGroups: [{ Tasks: [{ Resources: { NUMA: { Devices: null } }, Secrets: [{ Config: null, Env: null }] }] }],
  };
  expect(canonicaliseSubmitted(submitted(input))).toMatchObject(expected);
  expect(stored(input)).toMatchObject(expected);
});

test('a service of an ingress gateway keeps an empty list of hosts', () => {
  const Ingress = { Listeners: [{ Services: [{ Name: 's', Hosts: [] }, { Name: 's' }] }] };
  const input: JobInput = { ID: 'web', TaskGroups: [{ Name: 'g', Services: [{ Connect: { Gateway: { Ingress } } }] }] };
  const listeners = group(input).Services?.[0]?.Connect?.Gateway?.Ingress?.Listeners;
  expect(listeners?.[0]?.Services?.map((service) => service.Hosts)).toEqual([[], null]);
});

test('mounts of a sidecar task have the defaults of all mounts', () => {
  const Connect = { SidecarService: {}, SidecarTask: { VolumeMounts: [{ Volume: 'certificates' }] } };
  const input: JobInput = {
    ID: 'web',
    TaskGroups: [{ Name: 'g', Services: [{ Connect }], Tasks: [{ Name: 't', Driver: 'mock' }] }],
  };
  expect(group(input).Services?.[0]?.Connect?.SidecarTask?.VolumeMounts).toEqual([
    { Volume: 'certificates', Destination: '', ReadOnly: false, PropagationMode: 'private', SELinuxLabel: '' },
  ]);
});

describe('properties', () => {
  test('filling defaults twice is filling them once', () => {
    fc.assert(
      fc.property(jobInputs, (input) => {
        const once = canonicaliseSubmitted(submitted(input));
        expect(canonicaliseSubmitted(once)).toEqual(once);
      }),
      { numRuns: 60 },
    );
  });

  test('a stored job, sent back as it was answered, is stored as itself', () => {
    fc.assert(
      fc.property(jobInputs, (input) => {
        const job = stored(input);
        const again = stored(JSON.parse(JSON.stringify(job)) as JobInput);
        expect(again).toEqual(job);
        expect(equalSpec(again, job)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a function', () => {
  const call = { Name: 't', Driver: 'function' };
  const asked = (Tasks: object[], more: object = {}) => {
    const given = { ID: 'a', TaskGroups: [{ Name: 'g', Tasks, ...more }] } as JobInput;
    const { EphemeralDisk, Tasks: all } = group(given);
    return [EphemeralDisk.SizeMB, ...all.map(({ Resources: { CPU, MemoryMB } }) => [CPU, MemoryMB])];
  };

  test('asks for nothing, in a group of functions, unless its document does', () => {
    expect(asked([call])).toEqual([0, [0, 0]]);
    expect(asked([call, { ...call, Name: 'u', Resources: { CPU: 50 } }])).toEqual([0, [0, 0], [50, 300]]);
    expect(asked([{ ...call, Resources: {} }])).toEqual([0, [100, 300]]);
    expect(asked([call], { EphemeralDisk: {} })).toEqual([300, [0, 0]]);
    expect(asked([call], { EphemeralDisk: { SizeMB: 20 } })).toEqual([20, [0, 0]]);
  });

  test('beside a task of another kind asks for as much as that', () => {
    expect(asked([call, { Name: 'u', Driver: 'raw_exec' }])).toEqual([300, [100, 300], [100, 300]]);
    expect(asked([])).toEqual([300]);
  });

  test('that asks for nothing is valid, and asks for nothing when it is registered again', () => {
    const registered = prepareJob({ ID: 'a', TaskGroups: [{ Name: 'g', Tasks: [call] }] })._unsafeUnwrap();
    const again = prepareJob(registered as never)._unsafeUnwrap();
    expect(again).toEqual(registered);
    const other = prepareJob({
      ID: 'a',
      TaskGroups: [{ Name: 'g', Tasks: [{ ...call, Driver: 'raw_exec', Resources: { CPU: 0, MemoryMB: 0 } }] }],
    });
    expect(other._unsafeUnwrapErr().message).toMatch(/cpu must be at least 1 MHz(.|\n)*memory must be at least 10 MB/);
    const disk = prepareJob({
      ID: 'a',
      TaskGroups: [{ Name: 'g', EphemeralDisk: { SizeMB: 0 }, Tasks: [{ ...call, Driver: 'raw_exec' }] }],
    });
    expect(disk._unsafeUnwrapErr().message).toMatch(/at least 10 MB/);
  });
});
