import { describe, expect, it } from 'vitest';
import { portVariables } from '../../../src/agent/environment/port-variables.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';

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
