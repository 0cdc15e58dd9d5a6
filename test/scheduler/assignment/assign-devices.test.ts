import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { RequestedDevice } from '../../../src/jobs/document/resources.js';
import { assignDevices } from '../../../src/scheduler/assignment/assign-devices.js';
import { deviceKey } from '../../../src/scheduler/cluster/cluster.js';
import { hasDevices } from '../../../src/scheduler/feasibility/device-constraints.js';
import type { NodeDeviceGroup } from '../../../src/scheduler/node.js';
import { nodeFrom } from '../../support/nodes.js';

/** Instances `0`, `1` and so on, the first ones healthy. */
function device(
  Name: string,
  healthy: number,
  more: { vendor?: string; type?: string; sick?: number; speed?: number } = {},
) {
  const { vendor = 'acme', type = 'gpu', sick = 0, speed = 1 } = more;
  const Instances = Array.from({ length: healthy + sick }, (_, at) => ({ ID: String(at), Healthy: at < healthy }));
  return { Vendor: vendor, Type: type, Name, Instances, Attributes: { speed: { Int: speed } } };
}

const asks = (Name: string, Count: number, more: Partial<RequestedDevice> = {}): RequestedDevice => ({
  Name,
  Count,
  Constraints: null,
  Affinities: null,
  ...more,
});
const fast = (Weight: number, RTarget = '2') => ({ LTarget: `\${device.attr.speed}`, Operand: '>=', RTarget, Weight });

function assigned(
  Devices: readonly NodeDeviceGroup[],
  requests: readonly (readonly [string, RequestedDevice])[],
  inUse: readonly (readonly [NodeDeviceGroup, string])[] = [],
) {
  const node = nodeFrom('n', { NodeResources: { ...nodeFrom('n').NodeResources, Devices } });
  const book = new Set(inUse.map(([group, id]) => deviceKey(group, id)));
  const result = assignDevices(
    requests.map(([task, request]) => ({ task, request })),
    node,
    book,
  );
  if (result.isErr()) return result.error;
  const given = [...result.value.byTask].flatMap(([task, devices]) =>
    devices.map(({ Name, DeviceIDs }) => `${task} ${Name} ${DeviceIDs.join(',')}`),
  );
  return { given, score: result.value.score };
}

const none = 'devices: no devices match request';

describe('devices', () => {
  const slow = device('slow', 2);
  const quick = device('quick', 2, { speed: 3 });

  it.each<[string, () => unknown, unknown]>([
    ['by type', () => assigned([slow], [['t', asks('gpu', 2)]]), { given: ['t slow 0,1'] }],
    ['by vendor and type', () => assigned([slow], [['t', asks('acme/gpu', 1)]]), { given: ['t slow 0'] }],
    ['by name', () => assigned([slow, quick], [['t', asks('acme/gpu/quick', 1)]]), { given: ['t quick 0'] }],
    ['of another vendor', () => assigned([slow], [['t', asks('other/gpu', 1)]]), none],
    ['of another type', () => assigned([slow], [['t', asks('fpga', 1)]]), none],
    ['more than are healthy', () => assigned([device('a', 1, { sick: 4 })], [['t', asks('gpu', 2)]]), none],
    ['not from two groups', () => assigned([device('a', 1), device('b', 1)], [['t', asks('gpu', 2)]]), none],
    [
      'from the first group with as many',
      () => assigned([device('a', 1), quick], [['t', asks('gpu', 2)]]),
      { given: ['t quick 0,1'] },
    ],
    ['that are free', () => assigned([slow], [['t', asks('gpu', 1)]], [[slow, '0']]), { given: ['t slow 1'] }],
    [
      'that another group has in use',
      () => assigned([slow], [['t', asks('gpu', 1)]], [[quick, '0']]),
      { given: ['t slow 0'] },
    ],
    [
      'none free',
      () =>
        assigned(
          [slow],
          [['t', asks('gpu', 1)]],
          [
            [slow, '0'],
            [slow, '1'],
          ],
        ),
      none,
    ],
    [
      'for two tasks',
      () =>
        assigned(
          [slow],
          [
            ['t', asks('gpu', 1)],
            ['u', asks('gpu', 1)],
          ],
        ),
      { given: ['t slow 0', 'u slow 1'] },
    ],
    [
      'twice for one task',
      () =>
        assigned(
          [slow],
          [
            ['t', asks('gpu', 1)],
            ['t', asks('gpu', 1)],
          ],
        ),
      { given: ['t slow 0', 't slow 1'] },
    ],
    [
      'not for a third',
      () =>
        assigned(
          [slow],
          [
            ['t', asks('gpu', 1)],
            ['u', asks('gpu', 2)],
          ],
        ),
      none,
    ],
    [
      'that meet a constraint',
      () => assigned([slow, quick], [['t', asks('gpu', 1, { Constraints: [fast(0)] })]]),
      { given: ['t quick 0'] },
    ],
  ])('%s', (_what, found, expected) => {
    if (typeof expected === 'string') expect(found()).toBe(expected);
    else expect(found()).toMatchObject(expected as object);
  });

  it('are those that meet most of the weight of the affinities, the first of equals', () => {
    const wish = (...Affinities: ReturnType<typeof fast>[]) => [['t', asks('gpu', 1, { Affinities })]] as const;
    expect(assigned([slow, quick], wish(fast(50)))).toEqual({ given: ['t quick 0'], score: 1 });
    expect(assigned([slow, quick], wish(fast(-50)))).toEqual({ given: ['t slow 0'], score: 0 });
    expect(assigned([quick], wish(fast(-50)))).toEqual({ given: ['t quick 0'], score: -1 });
    expect(assigned([quick], wish(fast(30), fast(10, '9')))).toEqual({ given: ['t quick 0'], score: 0.75 });
    expect(assigned([slow, device('same', 1)], wish(fast(50)))).toEqual({ given: ['t slow 0'], score: 0 });
    expect(assigned([slow], [['t', asks('gpu', 1)]])).toEqual({ given: ['t slow 0'], score: undefined });
    const mixed = [...wish(fast(50)), ['u', asks('gpu', 1, { Affinities: [fast(50, '9')] })]] as const;
    expect(assigned([quick], mixed)).toMatchObject({ score: 0.5 });
  });
});

const groups = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    healthy: fc.nat(3),
    sick: fc.nat(2),
    vendor: fc.constantFrom('acme', 'other'),
  }),
  { maxLength: 4, selector: ({ name, vendor }) => `${vendor}/${name}` },
);
const requests = fc.array(
  fc.record({ name: fc.constantFrom('gpu', 'acme/gpu', 'other/gpu/a', 'fpga'), count: fc.integer({ min: 1, max: 3 }) }),
  { maxLength: 4 },
);

test('each request gets the first instances that are left of the first group that has enough of them', () => {
  fc.assert(
    fc.property(groups, requests, fc.array(fc.tuple(fc.nat(3), fc.nat(4))), (kinds, wanted, used) => {
      const devices = kinds.map(({ name, healthy, sick, vendor }) => device(name, healthy, { sick, vendor }));
      const inUse = used.flatMap(([at, id]) => (devices[at] === undefined ? [] : [[devices[at], String(id)] as const]));
      const left = devices.map((one) =>
        one.Instances.filter(({ ID, Healthy }) => Healthy && !inUse.some(([of, id]) => of === one && id === ID)).map(
          ({ ID }) => ID,
        ),
      );
      const given: string[] = [];
      const isServed = wanted.every(({ name, count }, task) => {
        const at = devices.findIndex(({ Vendor, Type, Name }, index) => {
          const names = [Type, `${Vendor}/${Type}`, `${Vendor}/${Type}/${Name}`];
          return names.includes(name) && (left[index]?.length ?? 0) >= count;
        });
        const ids = left[at]?.splice(0, count) ?? [];
        given.push(`${task} ${devices[at]?.Name} ${ids.join(',')}`);
        return at >= 0;
      });
      const tasks = wanted.map(({ name, count }, task) => [String(task), asks(name, count)] as const);
      expect(assigned(devices, tasks, inUse)).toEqual(isServed ? { given, score: undefined } : none);
      const node = nodeFrom('n', { NodeResources: { ...nodeFrom('n').NodeResources, Devices: devices } });
      const could = assigned(devices, tasks) !== none;
      expect(
        hasDevices(
          tasks.map(([task, request]) => ({ task, request })),
          node,
        ),
      ).toBe(could);
    }),
    { numRuns: 300 },
  );
});
