import { describe, expect, it } from 'vitest';
import { filledService, servicePort } from '../../../src/agent/environment/task-environment.js';
import type { Service } from '../../../src/jobs/document/service.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { canonicalJob } from '../../jobs/canonical-job.js';

function serviceOf(input: object): Service {
  const job = canonicalJob({
    ID: 'j',
    TaskGroups: [{ Name: 'g', Services: [input], Tasks: [{ Name: 't', Driver: 'exec' }] }],
  });
  return job.TaskGroups[0]?.Services?.[0] as Service;
}

const lookup = (name: string): string | undefined => (name === 'x' ? 'filled' : undefined);
const written = `\${x}`;

it('fills the texts of a service and of its checks, and writes the types of checks small', () => {
  const check = {
    Name: written,
    Type: 'HTTP',
    Path: `/${written}`,
    Method: written,
    Body: written,
    Header: { A: [written, 'b'] },
    Command: written,
    Args: [written],
    PortLabel: written,
    Protocol: written,
    TLSServerName: written,
  };
  const service = { Name: written, PortLabel: written, Address: written, Tags: [written], CanaryTags: [written] };
  expect(filledService(serviceOf({ ...service, Checks: [check] }), lookup)).toMatchObject({
    Name: 'filled',
    PortLabel: 'filled',
    Address: 'filled',
    Tags: ['filled'],
    CanaryTags: ['filled'],
    Checks: [
      {
        Name: 'filled',
        Type: 'http',
        Path: '/filled',
        Method: 'filled',
        Body: 'filled',
        Header: { A: ['filled', 'b'] },
        Command: 'filled',
        Args: ['filled'],
        PortLabel: 'filled',
        Protocol: 'filled',
        TLSServerName: 'filled',
      },
    ],
  });
});

it('leaves what is not known, and lists that are not there', () => {
  const service = serviceOf({ Name: `a-\${y}`, Checks: [{ Type: 'tcp' }] });
  expect(filledService(service, lookup)).toEqual(service);
});

const resources = {
  Shared: { Ports: [{ Label: 'http', Value: 20_100, To: 80, HostIP: '10.0.0.1' }] },
  Tasks: {
    db: { Networks: [{ IP: '10.0.0.2', DynamicPorts: [{ Label: 'sql', Value: 20_200 }] }] },
    web: { Networks: null },
  },
} as unknown as Allocation['AllocatedResources'];

describe('the port of a service or a check', () => {
  it.each([
    ['a label of the group', null, 'http', { address: '10.0.0.1', port: 20_100 }],
    ['a label of the group, of a task', 'web', 'http', { address: '10.0.0.1', port: 20_100 }],
    ["a label of the task's own network", 'db', 'sql', { address: '10.0.0.2', port: 20_200 }],
    ["a label of another task's network", 'web', 'sql', undefined],
    ['a number', null, '8080', { port: 8080 }],
    ['no label', null, '', undefined],
    ['an unknown label', 'web', 'other', undefined],
    ['the number 0', null, '0', undefined],
    ['a number that is no port', null, '65536', undefined],
  ] as const)('is found by %s', (_what, task, label, found) => {
    expect(servicePort(resources, task, label)).toEqual(found);
  });
});
