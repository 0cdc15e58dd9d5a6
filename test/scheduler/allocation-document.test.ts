import { expect, it } from 'vitest';
import type { Allocation } from '../../src/scheduler/allocation.js';
import { allocationDocument } from '../../src/scheduler/allocation-views.js';

it('an allocation has the status of its network from its first report on, with the name servers of its group', () => {
  const DNS = { Servers: ['10.0.0.2'], Searches: null, Options: null };
  const network = { Mode: 'host', DNS };
  const placed = {
    ID: 'a',
    AllocatedResources: { Tasks: {}, TaskLifecycles: {}, Shared: { DiskMB: 1, Networks: [network], Ports: null } },
  } as unknown as Allocation;
  expect(allocationDocument(placed)).not.toHaveProperty('NetworkStatus');
  const shown = { InterfaceName: '', Address: '', AddressIPv6: '', DNS };
  expect(allocationDocument({ ...placed, TaskStates: {} }).NetworkStatus).toEqual(shown);
});
