import { describe, expect, it } from 'vitest';
import { cancelDrain, completeDrain, startDrain } from '../../../src/scheduler/nodes/decide-drain.js';
import { decideEligibility, withNodeEvent } from '../../../src/scheduler/nodes/node-events.js';
import { hour } from '../../../src/shared/duration.js';
import { nodeFrom } from '../../support/nodes.js';

const noon = Date.UTC(2026, 0, 1, 12);
const moment = { now: noon, index: 7 };
const request = { spec: { Deadline: 3_600e9, IgnoreSystemJobs: false }, accessor: 'alice', meta: { why: 'disk' } };
const started = startDrain(nodeFrom('n'), request, moment)._unsafeUnwrap();

describe('eligibility', () => {
  it('changes with an event and the index of the write', () => {
    const node = decideEligibility(nodeFrom('n'), 'ineligible', moment)._unsafeUnwrap();
    expect(node).toMatchObject({ SchedulingEligibility: 'ineligible', ModifyIndex: 7 });
    expect(node.Events).toMatchObject([{ Subsystem: 'Cluster', CreateIndex: 7 }]);
  });

  it('stays the same node when nothing changes', () => {
    const node = nodeFrom('n');
    expect(decideEligibility(node, 'eligible', moment)._unsafeUnwrap()).toBe(node);
  });

  it.each(['', 'perhaps', '__proto__'])('is refused as %j', (eligibility) => {
    expect(decideEligibility(nodeFrom('n'), eligibility, moment)._unsafeUnwrapErr().reason).toBe('eligibility');
  });

  it('is not given back while the node is emptied', () => {
    expect(decideEligibility(started, 'eligible', moment)._unsafeUnwrapErr().reason).toBe('draining');
  });
});

describe('a drain', () => {
  it('makes the node ineligible and counts its deadline from now', () => {
    expect(started).toMatchObject({
      SchedulingEligibility: 'ineligible',
      DrainStrategy: { ForceDeadline: '2026-01-01T13:00:00.000Z', StartedAt: '2026-01-01T12:00:00.000Z' },
      LastDrain: { Status: 'draining', AccessorID: 'alice', Meta: { why: 'disk' } },
    });
  });

  it.each([0, -1])('has no moment of force with a deadline of %d', (Deadline) => {
    const node = startDrain(nodeFrom('n'), { ...request, spec: { ...request.spec, Deadline } }, moment);
    expect(node._unsafeUnwrap().DrainStrategy?.ForceDeadline).toBeNull();
  });

  it.each([Number.MAX_SAFE_INTEGER, 1e300])('takes any finite deadline: %d', (Deadline) => {
    const node = startDrain(nodeFrom('n'), { ...request, spec: { ...request.spec, Deadline } }, moment);
    expect(Date.parse(node._unsafeUnwrap().DrainStrategy?.ForceDeadline ?? '')).toBeGreaterThan(noon);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses a deadline of %d', (Deadline) => {
    const refused = startDrain(nodeFrom('n'), { ...request, spec: { ...request.spec, Deadline } }, moment);
    expect(refused._unsafeUnwrapErr().reason).toBe('drain');
  });

  it('that is changed counts as begun when it was', () => {
    const later = { now: noon + hour, index: 9 };
    const node = startDrain(started, { ...request, accessor: '', meta: null }, later)._unsafeUnwrap();
    expect(node.DrainStrategy).toMatchObject({
      StartedAt: '2026-01-01T12:00:00.000Z',
      ForceDeadline: '2026-01-01T14:00:00.000Z',
    });
    expect(node.LastDrain).toMatchObject({
      StartedAt: '2026-01-01T12:00:00.000Z',
      AccessorID: 'alice',
      Meta: { why: 'disk' },
    });
  });

  it('is called off with or without taking allocations again', () => {
    const rest = { accessor: '', meta: null };
    expect(cancelDrain(started, { ...rest, markEligible: false }, moment)).toMatchObject({
      DrainStrategy: null,
      SchedulingEligibility: 'ineligible',
      LastDrain: { Status: 'canceled' },
    });
    expect(cancelDrain(started, { ...rest, markEligible: true }, moment).SchedulingEligibility).toBe('eligible');
    expect(cancelDrain(nodeFrom('n'), { ...rest, markEligible: true }, moment).LastDrain).toBeUndefined();
  });

  it('ends with the node ineligible', () => {
    expect(completeDrain(started, moment)).toMatchObject({
      DrainStrategy: null,
      SchedulingEligibility: 'ineligible',
      LastDrain: { Status: 'complete', AccessorID: 'alice' },
    });
  });
});

it('keeps the last ten events', () => {
  let node = nodeFrom('n');
  for (let index = 1; index <= 12; index += 1) {
    node = withNodeEvent(node, { Subsystem: 'Cluster', Message: `${index}` }, { now: noon, index });
  }
  expect(node.Events?.map(({ Message }) => Message)).toEqual(['3', '4', '5', '6', '7', '8', '9', '10', '11', '12']);
});
