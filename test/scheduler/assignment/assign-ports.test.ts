import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { NetworkResource, Port } from '../../../src/jobs/document/network.js';
import { assignPorts, drawFrom } from '../../../src/scheduler/assignment/assign-ports.js';
import { TakenPorts } from '../../../src/scheduler/cluster/host-ports.js';
import type { Node, NodeAddress } from '../../../src/scheduler/node.js';
import { nodeFrom } from '../../support/nodes.js';

function nodeWith(Addresses: readonly NodeAddress[], range: Partial<Node['NodeResources']> = {}, reserved = ''): Node {
  const { NodeResources, ReservedResources } = nodeFrom('n');
  return nodeFrom('n', {
    NodeResources: { ...NodeResources, NodeNetworks: [{ Mode: 'host', Device: 'eth0', Addresses }], ...range },
    ReservedResources: { ...ReservedResources, Networks: { ReservedHostPorts: reserved } },
  });
}

const standard: readonly NodeAddress[] = [
  { Alias: 'default', Address: '10.0.0.1' },
  { Alias: 'public', Address: '192.0.2.1' },
  { Alias: 'public', Address: '192.0.2.2', ReservedPorts: '443' },
];

type Taken = readonly { readonly address: string; readonly port: number }[];

function assigned(asked: NetworkResource, node: Node, taken: Taken = []) {
  const result = assignPorts(asked, { node, taken: TakenPorts.of(node, []).with(taken), spared: [] }, drawFrom('x'));
  return result.isOk() ? result.value.ports : result.error;
}

describe('static ports', () => {
  const node = nodeWith(standard, {}, '22,7000-7001');

  it.each<[string, Port, Taken, unknown]>([
    ['of the default network', { Label: 'p', Value: 80 }, [], { HostIP: '10.0.0.1', Value: 80 }],
    ['of another network', { Label: 'p', Value: 80, HostNetwork: 'public' }, [], { HostIP: '192.0.2.1', Value: 80 }],
    [
      'on the next address when the first has it taken',
      { Label: 'p', Value: 80, HostNetwork: 'public' },
      [{ address: '192.0.2.1', port: 80 }],
      { HostIP: '192.0.2.2', Value: 80 },
    ],
    [
      'that one address keeps and another has taken',
      { Label: 'p', Value: 443, HostNetwork: 'public' },
      [{ address: '192.0.2.1', port: 443 }],
      'reserved port collision p=443',
    ],
    ['that are taken elsewhere', { Label: 'p', Value: 80 }, [{ address: '192.0.2.1', port: 80 }], { Value: 80 }],
    ['that are taken', { Label: 'p', Value: 80 }, [{ address: '10.0.0.1', port: 80 }], 'reserved port collision p=80'],
    [
      'that are taken and may be shared',
      { Label: 'p', Value: 80, IgnoreCollision: true },
      [{ address: '10.0.0.1', port: 80 }],
      { Value: 80, IgnoreCollision: true },
    ],
    ['that the node keeps', { Label: 'p', Value: 22 }, [], 'reserved port collision p=22'],
    [
      'that the node keeps everywhere',
      { Label: 'p', Value: 7001, HostNetwork: 'public' },
      [],
      'reserved port collision p=7001',
    ],
    [
      'of a network without an address',
      { Label: 'p', Value: 80, HostNetwork: 'x' },
      [],
      'no addresses available for x network',
    ],
    ['with a port inside', { Label: 'p', Value: 80, To: 8080 }, [], { Value: 80, To: 8080 }],
    ['with the same port inside', { Label: 'p', Value: 80, To: -1 }, [], { Value: 80, To: 80 }],
  ])('%s', (_what, port, taken, expected) => {
    const ports = assigned({ ReservedPorts: [port] }, node, taken);
    if (typeof expected === 'string') expect(ports).toBe(expected);
    else expect(ports).toMatchObject([expected]);
  });

  it('carry only what they have', () => {
    expect(assigned({ ReservedPorts: [{ Label: 'p', Value: 80 }] }, node)).toEqual([
      { Label: 'p', Value: 80, HostIP: '10.0.0.1' },
    ]);
  });
});

describe('dynamic ports', () => {
  const one = (port: number) => ({ MinDynamicPort: port, MaxDynamicPort: port });

  it('have the same port inside on request', () => {
    const node = nodeWith(standard, one(20_005));
    expect(assigned({ DynamicPorts: [{ Label: 'p', To: -1 }] }, node)).toMatchObject([{ Value: 20_005, To: 20_005 }]);
    expect(assigned({ DynamicPorts: [{ Label: 'p', To: 80 }] }, node)).toMatchObject([{ Value: 20_005, To: 80 }]);
  });

  it('are none that is requested as a static one of the same host network', () => {
    const node = nodeWith(standard, one(20_005));
    const asked = (HostNetwork: string): NetworkResource => ({
      ReservedPorts: [{ Label: 's', Value: 20_005, HostNetwork }],
      DynamicPorts: [{ Label: 'd', HostNetwork: 'public' }],
    });
    expect(assigned(asked('public'), node)).toBe('dynamic port selection failed');
    expect(assigned(asked('default'), node)).toMatchObject([
      { Label: 's', HostIP: '10.0.0.1', Value: 20_005 },
      { Label: 'd', HostIP: '192.0.2.1', Value: 20_005 },
    ]);
  });

  it.each([
    [19, 20_007],
    [20, 20_001],
  ])('are the first free one of the range after twenty draws of taken ones (%i draws)', (misses, expected) => {
    let draws = 0;
    const draw = (): number => (draws++ < misses ? 0 : 7);
    const taken = TakenPorts.of(nodeWith(standard), []).with([{ address: '10.0.0.1', port: 20_000 }]);
    const offer = assignPorts(
      { DynamicPorts: [{ Label: 'p' }] },
      { node: nodeWith(standard), taken, spared: [] },
      draw,
    );
    expect(offer._unsafeUnwrap().ports).toMatchObject([{ Value: expected }]);
    expect(draws).toBe(20);
  });

  it('come from the range of the node, both ends included, else from 20000 to 32000', () => {
    const four = nodeWith(standard, { MinDynamicPort: 5, MaxDynamicPort: 8 });
    const labels = ['a', 'b', 'c', 'd'].map((Label) => ({ Label }));
    const given = assigned({ DynamicPorts: labels }, four);
    expect(typeof given === 'string' ? given : given.map(({ Value }) => Value).sort()).toEqual([5, 6, 7, 8]);
    const nearlyAll = Array.from({ length: 12_000 }, (_, at) => ({ address: '10.0.0.1', port: 20_000 + at }));
    const usual = nodeWith(standard);
    expect(assigned({ DynamicPorts: [{ Label: 'p' }] }, usual, nearlyAll)).toMatchObject([{ Value: 32_000 }]);
    expect(
      assigned({ DynamicPorts: [{ Label: 'p' }] }, nodeWith(standard, { MinDynamicPort: 9, MaxDynamicPort: 8 })),
    ).toBe('dynamic port selection failed');
  });
});

describe('the network of an allocation', () => {
  const node = nodeWith(standard, { MinDynamicPort: 20_005, MaxDynamicPort: 20_005 });
  const network = (asked: NetworkResource, on: Node = node) =>
    assignPorts(asked, { node: on, taken: TakenPorts.of(on, []), spared: [] }, drawFrom('x'))._unsafeUnwrap().network;

  it('is the requested one with the values of its dynamic ports and the first address of the host', () => {
    const asked = {
      Mode: 'bridge',
      ReservedPorts: [{ Label: 's', Value: 80 }],
      DynamicPorts: [{ Label: 'd', To: -1 }],
    };
    expect(network(asked)).toEqual({
      ...asked,
      IP: '10.0.0.1',
      DynamicPorts: [{ Label: 'd', To: 20_005, Value: 20_005 }],
    });
    expect(network({ Mode: 'host' })).toEqual({ Mode: 'host', IP: '10.0.0.1' });
  });

  it('has the address of an interface of the host before that of another one', () => {
    const bridge = { Mode: 'bridge', Device: 'br0', Addresses: [{ Alias: 'default', Address: '172.16.0.1' }] };
    const host = { Mode: 'host', Device: 'eth0', Addresses: standard };
    const unnamed = { ...host, Mode: '' };
    const withNetworks = (...NodeNetworks: (typeof host)[]) =>
      nodeFrom('n', { NodeResources: { ...node.NodeResources, NodeNetworks } });
    expect(network({}, withNetworks(bridge, host)).IP).toBe('10.0.0.1');
    expect(network({}, withNetworks(bridge, unnamed)).IP).toBe('10.0.0.1');
    expect(network({}, withNetworks(bridge)).IP).toBe('172.16.0.1');
  });
});

const alias = fc.constantFrom('default', 'public', 'absent');
const ip = fc.constantFrom('10.0.0.1', '10.0.0.2', '192.0.2.1');
const portNumber = fc.integer({ min: 1, max: 9 });
const inside = fc.constantFrom(-1, 0, 7);
const situation = fc.record({
  /** Each address is on one host network. */
  addresses: fc.uniqueArray(fc.record({ Alias: fc.constantFrom('default', 'public'), Address: ip }), {
    minLength: 1,
    selector: ({ Address }) => Address,
  }),
  last: fc.integer({ min: 2, max: 9 }),
  held: fc.array(fc.record({ address: ip, port: portNumber }), { maxLength: 9 }),
  statics: fc.uniqueArray(fc.record({ network: alias, to: inside, value: portNumber, shared: fc.boolean() }), {
    maxLength: 3,
    selector: ({ value }) => value,
  }),
  dynamics: fc.array(fc.record({ network: alias, to: inside }), { maxLength: 4 }),
});
type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

/** The address of each port, in order, by counting what is free on each; else the reason for which there is none. */
function counted({ addresses, last, held, statics, dynamics }: Situation): readonly string[] | string {
  const taken = new Set(held.map(({ address, port }) => `${address}:${port}`));
  const given: string[] = [];
  for (const [at, { network, value, shared }] of statics.entries()) {
    const on = addresses.filter(({ Alias }) => Alias === network);
    if (on.length === 0) return `no addresses available for ${network} network`;
    const first = on.find(({ Address }) => shared || !taken.has(`${Address}:${value}`));
    if (first === undefined) return `reserved port collision s${at}=${value}`;
    given.push(first.Address);
  }
  const free = new Map<string, number>();
  for (const { Alias, Address } of addresses) {
    const kept = statics.filter(({ network }) => network === Alias).map(({ value }) => value);
    const range = Array.from({ length: last - 1 }, (_, at) => at + 2);
    free.set(Address, range.filter((port) => !kept.includes(port) && !taken.has(`${Address}:${port}`)).length);
  }
  for (const { network } of dynamics) {
    const on = addresses.filter(({ Alias }) => Alias === network);
    if (on.length === 0) return `no addresses available for ${network} network`;
    const first = on.find(({ Address }) => (free.get(Address) ?? 0) > 0);
    if (first === undefined) return 'dynamic port selection failed';
    free.set(first.Address, (free.get(first.Address) ?? 0) - 1);
    given.push(first.Address);
  }
  return given;
}

test('ports are to be had exactly when counting what is free finds them', () => {
  fc.assert(
    fc.property(situation, (world) => {
      const { statics, dynamics, held, last } = world;
      const ports = assigned(
        {
          ReservedPorts: statics.map(({ network, to, value, shared }, at) => {
            return { Label: `s${at}`, HostNetwork: network, To: to, Value: value, IgnoreCollision: shared };
          }),
          DynamicPorts: dynamics.map(({ network, to }, at) => ({ Label: `d${at}`, HostNetwork: network, To: to })),
        },
        nodeWith(world.addresses, { MinDynamicPort: 2, MaxDynamicPort: last }),
        held,
      );
      const expected = counted(world);
      if (typeof ports === 'string' || typeof expected === 'string') {
        expect(ports).toBe(expected);
        return;
      }
      expect(ports.map(({ HostIP }) => HostIP)).toEqual(expected);
      expect(ports.slice(0, statics.length).map(({ Value }) => Value)).toEqual(statics.map(({ value }) => value));
      const drawn = ports.slice(statics.length);
      for (const { Value } of drawn) expect(Value >= 2 && Value <= last).toBe(true);
      const inUse = held.map(({ address, port }) => `${address}:${port}`);
      const sockets = drawn.map(({ HostIP, Value }) => `${HostIP}:${Value}`);
      expect(new Set([...sockets, ...inUse]).size).toBe(sockets.length + new Set(inUse).size);
      const wanted = [...statics, ...dynamics];
      expect(ports.map(({ To }) => To ?? 0)).toEqual(wanted.map(({ to }, at) => (to === -1 ? ports[at]?.Value : to)));
    }),
    { numRuns: 500 },
  );
});
