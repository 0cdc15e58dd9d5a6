import { describe, expect, it } from 'vitest';
import { servicePort } from '../../../src/agent/environment/service-port.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';

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
