import { describe, expect, it } from 'vitest';
import type { AllocationUse } from '../../../src/scheduler/cluster/capacity.js';
import type { Node } from '../../../src/scheduler/node.js';
import { type Asks, gpu, use, victimsOf } from './contests.js';

describe('static ports', () => {
  const p = (Value: number, more: object = {}) => ({ Label: `p${Value}`, Value, ...more });

  it.each<[string, Asks, readonly AllocationUse[], readonly string[] | undefined]>([
    ['come from their holder, not from others', { ports: [p(80)] }, [use('a'), use('b', { ports: [80] })], ['b']],
    [
      'come from several holders',
      { ports: [p(80), p(81)] },
      [use('a', { ports: [81] }), use('b', { ports: [80] })],
      ['a', 'b'],
    ],
    ['come from one holder of both', { ports: [p(80), p(81)] }, [use('a', { ports: [80, 81] })], ['a']],
    [
      'do not come from a holder that may not be preempted',
      { ports: [p(80)] },
      [use('a', { ports: [80], priority: 80 })],
      undefined,
    ],
    [
      'that may be shared need nobody',
      { ports: [p(80, { IgnoreCollision: true })] },
      [use('a', { ports: [80] })],
      undefined,
    ],
    [
      'that another address has free need nobody',
      { ports: [p(80, { HostNetwork: 'public' })] },
      [use('a', { ports: [['192.0.2.1', 80]] })],
      undefined,
    ],
    [
      'come from the holder on one of the addresses',
      { ports: [p(80, { HostNetwork: 'public' })] },
      [
        use('a', { ports: [80] }),
        use('b', { ports: [['192.0.2.1', 80]] }),
        use('c', { ports: [['192.0.2.2', 80]], priority: 80 }),
      ],
      ['b'],
    ],
    [
      'are asked before room, which their holder may make',
      { cpu: 500, ports: [p(80)] },
      [use('a', { cpu: 500, ports: [80] }), use('b', { cpu: 500, priority: 1 })],
      ['a'],
    ],
    [
      'and room come from several',
      { cpu: 500, ports: [p(80)] },
      [use('a', { cpu: 100, ports: [80] }), use('b', { cpu: 500 }), use('c', { cpu: 400, priority: 30 })],
      ['a', 'b'],
    ],
  ])('%s', (_what, asks, uses, victims) => {
    expect(victimsOf(asks, uses)?.toSorted()).toEqual(victims);
  });
});

describe('devices', () => {
  const four = { Devices: [gpu('a', 4)] };
  const two = { Devices: [gpu('a', 2), gpu('b', 2)] };

  it.each<[string, Asks, readonly AllocationUse[], Partial<Node['NodeResources']>, readonly string[] | undefined]>([
    ['that are free need nobody', { gpus: 2 }, [use('a', { gpus: '0,1' })], four, undefined],
    ['come from those who hold them', { gpus: 4 }, [use('a'), use('b', { gpus: '0,1' })], four, ['b']],
    [
      'come from the lowest priority',
      { gpus: 2 },
      [use('a', { gpus: '0,1', priority: 30 }), use('b', { gpus: '2,3' })],
      four,
      ['b'],
    ],
    [
      'come from as many as are missing',
      { gpus: 3 },
      [use('a', { gpus: '0,1', priority: 30 }), use('b', { gpus: '2,3' })],
      four,
      ['a', 'b'],
    ],
    [
      'come from one that holds many instead of several that hold few',
      { gpus: 2 },
      [use('a', { gpus: '0' }), use('b', { gpus: '1', priority: 21 }), use('c', { gpus: '2,3', priority: 22 })],
      four,
      ['a', 'b'],
    ],
    [
      'leave those that turn out to be needless',
      { gpus: 2 },
      [use('a', { gpus: '0' }), use('b', { gpus: '1,2,3', priority: 30 })],
      four,
      ['b'],
    ],
    [
      'do not come from those that may not be preempted',
      { gpus: 1 },
      [use('a', { gpus: '0,1,2,3', priority: 80 })],
      four,
      undefined,
    ],
    [
      'do not come from too few',
      { gpus: 2 },
      [use('a', { gpus: '0' }), use('b', { gpus: '1,2,3', priority: 80 })],
      four,
      undefined,
    ],
    [
      'of the group whose holders are least important in sum',
      { gpus: 2 },
      [
        use('a', { gpus: 'a:0,1', priority: 50 }),
        use('b', { gpus: 'b:0', priority: 20 }),
        use('c', { gpus: 'b:1', priority: 20 }),
      ],
      two,
      ['b', 'c'],
    ],
    [
      'of the first group of equals',
      { gpus: 2 },
      [use('a', { gpus: 'a:0,1' }), use('b', { gpus: 'b:0,1' })],
      two,
      ['a'],
    ],
    ['of the group that has them free', { gpus: 2 }, [use('a', { gpus: 'a:0,1' })], two, undefined],
    [
      'and room do not come from holders of other devices than are free',
      { gpus: 2, cpu: 500 },
      [use('a', { gpus: 'a:0,1', priority: 60 }), use('b', { cpu: 900 })],
      two,
      ['b'],
    ],
    [
      'of the group that suits',
      { gpus: 2, device: 'acme/gpu/b' },
      [use('a', { gpus: 'a:0,1', priority: 1 }), use('b', { gpus: 'b:0,1' })],
      two,
      ['b'],
    ],
    [
      'of another vendor need nobody here',
      { gpus: 1, device: 'other/gpu' },
      [use('a', { gpus: '0,1,2,3' })],
      four,
      undefined,
    ],
    [
      'and room come from several',
      { gpus: 4, cpu: 500 },
      [use('a', { cpu: 100, gpus: '0' }), use('b', { cpu: 900 })],
      four,
      ['a', 'b'],
    ],
  ])('%s', (_what, asks, uses, node, victims) => {
    expect(victimsOf(asks, uses, node)?.toSorted()).toEqual(victims);
  });
});
