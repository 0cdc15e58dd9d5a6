import { expect, it } from 'vitest';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { isOutOfReach, silentStatus } from '../../../src/scheduler/nodes/silent-status.js';
import { allocationWith, jobWith, now, unknownSince } from '../reconcile/situations.js';

const [patient] = jobWith({ Disconnect: { LostAfter: 600e9 } }).TaskGroups;
const [hasty] = jobWith().TaskGroups;
const [ending] = jobWith({ Disconnect: { StopOnClientAfter: 600e9 } }).TaskGroups;
const of = (group: typeof patient, change: Partial<Allocation> = {}) => ({ allocation: allocationWith(change), group });
const unknown = (seconds: number): Partial<Allocation> => ({ ClientStatus: 'unknown', ...unknownSince(seconds) });

it.each([
  ['a node without allocations', [], 'down'],
  ['a group that waits', [of(patient)], 'disconnected'],
  ['an allocation that has not begun', [of(patient, { ClientStatus: 'pending' })], 'disconnected'],
  ['a group that does not wait', [of(hasty)], 'down'],
  ['a group whose allocations end by themselves', [of(ending)], 'down'],
  ['a group that is not known any more', [of(undefined)], 'down'],
  ['one that waits among others', [of(hasty), of(patient)], 'disconnected'],
  ['an allocation that was told to stop', [of(patient, { DesiredStatus: 'stop' })], 'down'],
  ['an allocation that was preempted', [of(patient, { DesiredStatus: 'evict' })], 'down'],
  ['an allocation that has ended', [of(patient, { ClientStatus: 'failed' })], 'down'],
  ['one that is waited for already', [of(patient, unknown(599))], 'disconnected'],
  ['one that was waited for too long', [of(patient, unknown(600))], 'down'],
] as const)('silence: %s', (_what, unfinished, status) => {
  expect(silentStatus(unfinished, now)).toBe(status);
});

it('a node out of reach registers again', () => {
  const statuses = ['initializing', 'ready', 'down', 'disconnected'] as const;
  expect(statuses.filter((Status) => isOutOfReach({ Status }))).toEqual(['down', 'disconnected']);
});
