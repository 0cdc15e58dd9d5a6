import { describe, expect, it } from 'vitest';
import { type Allocation, noTransition } from '../../../src/scheduler/allocation.js';
import { classified } from '../../../src/scheduler/reconcile/situation.js';
import { allocationWith, jobWith, situationWith, unknownSince } from './situations.js';

const stopped = { DesiredStatus: 'stop' } as const;
const evicted = { DesiredStatus: 'evict' } as const;
const moves = { DesiredTransition: { ...noTransition, Migrate: true } };
const endedByDrain = { DesiredTransition: { ...noTransition, MigrateDisablePlacement: true } };
const canary = { DeploymentStatus: { Healthy: null, Timestamp: null, Canary: true, ModifyIndex: 1 } };
const away = unknownSince(60);
const on = (NodeID: string) => ({ NodeID });
const is = (ClientStatus: Allocation['ClientStatus']) => ({ ClientStatus });

const waits = { Disconnect: { LostAfter: 300e9 } };
const keeps = { Disconnect: { LostAfter: 300e9, Replace: false } };

describe('what its node and its wishes make of an allocation, by the first rule', () => {
  it.each<[string, string, Record<string, unknown>, Partial<Allocation>]>([
    ['1: it failed out of reach', 'reconnecting', waits, { ...is('failed'), ...away, ...on('disconnected') }],
    ['2: stopped by a drain for good', 'untainted', {}, { ...stopped, ...endedByDrain, ...on('down') }],
    ['3: stopped', 'ignored', {}, stopped],
    ['3: evicted', 'ignored', {}, { ...evicted, ...on('missing') }],
    ['4: a canary that ended and has to move', 'migrating', {}, { ...is('failed'), ...canary, ...moves }],
    ['5: no canary, ended, has to move', 'untainted', {}, { ...is('failed'), ...moves }],
    ['5: a canary that ended', 'untainted', {}, { ...is('complete'), ...canary, ...on('down') }],
    ['5: ended on a node that is gone', 'untainted', {}, { ...is('complete'), ...on('missing') }],
    ['6: unknown for too long', 'expiring', waits, { ...is('unknown'), ...unknownSince(300), ...on('disconnected') }],
    ['6: unknown for too long, node back', 'expiring', waits, { ...is('unknown'), ...unknownSince(301) }],
    [
      'not 6: unknown not long enough',
      'untainted',
      waits,
      { ...is('unknown'), ...unknownSince(299.999), ...on('disconnected') },
    ],
    ['not 6: it runs again', 'reconnecting', waits, { ...unknownSince(400) }],
    ['7: failed out of reach, and stopped', 'ignored', waits, { ...is('failed'), ...stopped, ...away }],
    ['not 7: stopped, runs and is back', 'reconnecting', waits, { ...stopped, ...away }],
    ['8: known to be unknown', 'untainted', waits, { ...is('unknown'), ...away, ...moves, ...on('disconnected') }],
    ['9: not begun', 'lost', waits, { ...is('pending'), ...on('disconnected') }],
    ['10: not waited for', 'lost', {}, on('disconnected')],
    ['11: waited for', 'disconnecting', waits, on('disconnected')],
    ['11: waited for, has to move', 'disconnecting', waits, { ...moves, ...on('disconnected') }],
    ['11: a canary that runs and has to move', 'disconnecting', waits, { ...canary, ...moves, ...on('disconnected') }],
    ['12: has to move', 'migrating', {}, moves],
    ['12: has to move from a node that is down', 'migrating', {}, { ...moves, ...on('down') }],
    ['12: has to move from a node that is gone', 'migrating', {}, { ...moves, ...on('missing') }],
    ['13: back', 'reconnecting', waits, away],
    ['13: back on a draining node', 'reconnecting', waits, { ...away, ...on('draining') }],
    ['14: all is well', 'untainted', {}, {}],
    ['14: on an ineligible node', 'untainted', {}, on('ineligible')],
    ['14: on a draining node', 'untainted', {}, on('draining')],
    ['15: node gone', 'lost', keeps, on('missing')],
    ['16: node down after it was out of reach', 'untainted', keeps, { ...is('unknown'), ...away, ...on('down') }],
    ['17: node down, no replacement wanted', 'disconnecting', keeps, on('down')],
    ['18: node down', 'lost', waits, on('down')],
    ['18: node down, unknown', 'lost', waits, { ...is('unknown'), ...away, ...on('down') }],
    ['18: node down, not begun', 'lost', keeps, { ...is('pending'), ...on('down') }],
  ])('%s: %s', (_rule, expected, group, change) => {
    const classes = classified([allocationWith(change)], situationWith(jobWith(group)));
    expect(Object.entries(classes).flatMap(([name, list]) => list.map(() => name))).toEqual([expected]);
  });

  it('an allocation is back only after it was the last thing known of it that it was out of reach', () => {
    const states = (...values: string[]) => ({
      AllocStates: values.map((Value) => ({ Field: 0 as const, Value, Time: '2026-01-01T11:59:00Z' })),
    });
    const situation = situationWith(jobWith(waits));
    const { reconnecting, untainted } = classified(
      [
        allocationWith({ ID: 'again', ...states('unknown', 'running', 'unknown') }),
        allocationWith({ ID: 'settled', ...states('unknown', 'running') }),
        allocationWith({ ID: 'never' }),
        allocationWith({ ID: 'done', ...is('complete'), ...states('unknown') }),
      ],
      situation,
    );
    expect(reconnecting.map(({ ID }) => ID)).toEqual(['again']);
    expect(untainted.map(({ ID }) => ID)).toEqual(['settled', 'never', 'done']);
  });
});
