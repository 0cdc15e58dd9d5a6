import { describe, expect, it } from 'vitest';
import { portVariables, type TaskContext, taskEnvironment } from '../../../src/agent/environment/task-environment.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { canonicalJob } from '../../jobs/canonical-job.js';
import { nodeFrom } from '../../support/nodes.js';

const directories = { shared: '/a/alloc', local: '/a/t/local', secrets: '/a/t/secrets' };

interface Given {
  readonly job?: Partial<Job>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cores?: readonly number[];
  readonly memoryMaxMB?: number;
}

function environmentOf({ job: change = {}, env = {}, cores = [], memoryMaxMB = 0 }: Given): Record<string, string> {
  const job: Job = {
    ...canonicalJob({
      ID: 'shop',
      Name: 'Shop',
      Meta: { tier: 'job', 'a-b': '1' },
      TaskGroups: [
        { Name: 'web', Meta: { tier: 'group' }, Tasks: [{ Name: 'serve', Driver: 'exec', Env: { ...env } }] },
      ],
    }),
    ...change,
  };
  const group = job.TaskGroups[0] as TaskContext['group'];
  const task = group.Tasks[0] as TaskContext['task'];
  const allocation = {
    ID: '0a1b2c3d-0000-4000-8000-000000000001',
    Name: 'shop.web[2]',
    AllocatedResources: {
      Tasks: {
        serve: {
          Cpu: { CpuShares: 500, ReservedCores: cores.length === 0 ? null : cores },
          Memory: { MemoryMB: 256, MemoryMaxMB: memoryMaxMB },
          Networks: null,
          Devices: null,
        },
      },
      Shared: { Networks: null, DiskMB: 0, Ports: [{ Label: 'my-http', Value: 20_100, To: 80, HostIP: '10.0.0.1' }] },
    },
  } as unknown as Allocation;
  const node = nodeFrom('00000000-0000-4000-8000-000000000009', {
    Name: 'n9',
    Datacenter: 'east',
    Attributes: { arch: 'amd64' },
    Meta: { rack: 'r1' },
  });
  return taskEnvironment({ job, group, task, allocation, node, directories });
}

describe('the environment of a task', () => {
  it('tells of its allocation, job and resources, under both prefixes', () => {
    const environment = environmentOf({});
    expect(environment).toMatchObject({
      NOMAD_ALLOC_DIR: '/a/alloc',
      NOMAD_TASK_DIR: '/a/t/local',
      NOMAD_SECRETS_DIR: '/a/t/secrets',
      NOMAD_ALLOC_ID: '0a1b2c3d-0000-4000-8000-000000000001',
      NOMAD_SHORT_ALLOC_ID: '0a1b2c3d',
      NOMAD_ALLOC_NAME: 'shop.web[2]',
      NOMAD_ALLOC_INDEX: '2',
      NOMAD_TASK_NAME: 'serve',
      NOMAD_GROUP_NAME: 'web',
      NOMAD_JOB_ID: 'shop',
      NOMAD_JOB_NAME: 'Shop',
      NOMAD_DC: 'east',
      NOMAD_REGION: 'global',
      NOMAD_NAMESPACE: 'default',
      NOMAD_CPU_LIMIT: '500',
      NOMAD_MEMORY_LIMIT: '256',
    });
    for (const [name, value] of Object.entries(environment)) {
      if (name.startsWith('NOMAD_')) expect(environment[name.replace('NOMAD_', 'SIGNALBOX_')]).toBe(value);
    }
    for (const absent of ['NOMAD_JOB_PARENT_ID', 'NOMAD_MEMORY_MAX_LIMIT', 'NOMAD_CPU_CORES']) {
      expect(environment).not.toHaveProperty(absent);
    }
  });

  it.each([
    [[3], '3'],
    [[2, 3, 4], '2-4'],
    [[7, 0, 2, 1], '0-2,7'],
    [[0, 2, 4, 5], '0,2,4-5'],
  ])('tells the cores %j as %s', (cores, text) => {
    expect(environmentOf({ cores })['NOMAD_CPU_CORES']).toBe(text);
  });

  it('tells the highest memory and the parent where there are any', () => {
    const environment = environmentOf({ memoryMaxMB: 512, job: { ParentID: 'parent' } });
    expect(environment).toMatchObject({ NOMAD_MEMORY_MAX_LIMIT: '512', NOMAD_JOB_PARENT_ID: 'parent' });
  });

  it('tells ports with labels that are names of variables: inside and on the host', () => {
    expect(environmentOf({})).toMatchObject({
      NOMAD_ADDR_my_http: '10.0.0.1:20100',
      NOMAD_IP_my_http: '10.0.0.1',
      NOMAD_PORT_my_http: '80',
      NOMAD_HOST_ADDR_my_http: '10.0.0.1:20100',
      NOMAD_HOST_PORT_my_http: '20100',
      NOMAD_ALLOC_PORT_my_http: '80',
    });
  });

  it('tells meta as written and in capitals, the innermost wins, and optional keys of a dispatched job', () => {
    const environment = environmentOf({
      job: {
        Dispatched: true,
        ParameterizedJob: { Payload: 'optional', MetaRequired: null, MetaOptional: ['left', 'tier'] },
      },
    });
    expect(environment).toMatchObject({
      NOMAD_META_tier: 'group',
      NOMAD_META_TIER: 'group',
      NOMAD_META_a_b: '1',
      NOMAD_META_A_B: '1',
      NOMAD_META_left: '',
      NOMAD_META_LEFT: '',
    });
  });

  it("fills in references in names of the job's own variables, and writes those with its prefixes as it writes its own", () => {
    const env = {
      [`IN_\${node.datacenter}`]: 'a',
      'NOMAD_own-name': 'b',
      'SIGNALBOX_own-name': 'c',
      'other-name': 'd',
    };
    const environment = environmentOf({ env });
    expect(environment).toMatchObject({
      IN_east: 'a',
      NOMAD_own_name: 'b',
      SIGNALBOX_own_name: 'c',
      'other-name': 'd',
    });
    expect(environment).not.toHaveProperty('NOMAD_own-name');
  });

  it("fills in the references of the job's own variables, and leaves unknown ones", () => {
    const env = {
      WHERE: `\${node.datacenter} \${attr.arch} \${meta.rack} \${NOMAD_META_tier} \${NOMAD_PORT_my_http}`,
      ODD: `\${attr.none} \${env["X"]}`,
      NOMAD_DC: 'mine',
    };
    expect(environmentOf({ env })).toMatchObject({
      WHERE: 'east amd64 r1 group 80',
      ODD: `\${attr.none} \${env["X"]}`,
      NOMAD_DC: 'mine',
    });
  });
});

const network = (IP: string, Label: string, Value: number, To = 0) => ({ IP, DynamicPorts: [{ Label, Value, To }] });
const tasks = {
  web: { Networks: [network('10.0.0.1', 'http', 20_001, 80)] },
  'side-car': { Networks: [network('10.0.0.1', 'metrics', 20_002)] },
};
const allocation = (Shared: object): Allocation =>
  ({
    AllocatedResources: { Tasks: tasks, Shared: { Networks: null, Ports: null, ...Shared } },
  }) as unknown as Allocation;

describe('the variables of ports', () => {
  it("name a task's own ports by their labels, and those of the others by task and label", () => {
    const variables = portVariables(allocation({}), 'web');
    expect(variables).toEqual({
      ADDR_http: '10.0.0.1:20001',
      IP_http: '10.0.0.1',
      PORT_http: '80',
      HOST_ADDR_http: '10.0.0.1:20001',
      HOST_IP_http: '10.0.0.1',
      HOST_PORT_http: '20001',
      ALLOC_PORT_http: '80',
      ADDR_side_car_metrics: '10.0.0.1:20002',
      IP_side_car_metrics: '10.0.0.1',
      PORT_side_car_metrics: '20002',
      HOST_ADDR_side_car_metrics: '10.0.0.1:20002',
      HOST_IP_side_car_metrics: '10.0.0.1',
      HOST_PORT_side_car_metrics: '20002',
      ALLOC_PORT_side_car_metrics: '20002',
    });
  });

  it('are all those of others where there is no task', () => {
    const names = Object.keys(portVariables(allocation({}), undefined));
    expect(names.filter((name) => name.startsWith('PORT_'))).toEqual(['PORT_web_http', 'PORT_side_car_metrics']);
  });

  it("name the group's ports in every task, before its own of the same label", () => {
    const Ports = [{ Label: 'http', Value: 30_000, To: 8080, HostIP: '10.0.0.2' }];
    for (const task of ['web', 'side-car']) {
      expect(portVariables(allocation({ Ports }), task)).toMatchObject({
        ADDR_http: '10.0.0.2:30000',
        PORT_http: '8080',
      });
    }
  });

  it('write an address with colons in brackets', () => {
    const Ports = [{ Label: 'http', Value: 30_000, To: 0, HostIP: 'fe80::1' }];
    expect(portVariables(allocation({ Ports }), 'web')).toMatchObject({
      ADDR_http: '[fe80::1]:30000',
      HOST_ADDR_http: '[fe80::1]:30000',
      IP_http: 'fe80::1',
    });
  });
});
