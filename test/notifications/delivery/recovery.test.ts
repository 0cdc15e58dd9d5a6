import { expect, test } from 'vitest';
import { type Recovery, turnedTo, withoutCurrent } from '../../../src/notifications/delivery/recovery.js';

const recovery: Recovery = {
  ...{ id: 'r', workspaceId: 'ws', outcome: 'dead', since: 0, until: 10, trigger: null, total: 9, redelivered: 0 },
  ...{ state: 'running', createdAt: 0, finishedAt: null },
  configurations: ['a', 'b', 'c'],
  reached: [5, 1],
};

test('each configuration of a bulk redelivery goes on from where it was', () => {
  const atC = turnedTo(recovery, 'c');
  expect([atC.configurations, atC.reached]).toEqual([['c', 'b', 'a'], null]);
  const further = { ...atC, reached: [7, 2] as const };
  const atA = turnedTo(further, 'a');
  expect([atA.configurations, atA.reached]).toEqual([
    ['a', 'b', 'c'],
    [5, 1],
  ]);
  const withoutA = withoutCurrent(atA);
  expect([withoutA.configurations, withoutA.reached]).toEqual([['b', 'c'], null]);
  const withoutB = withoutCurrent(withoutA);
  expect([withoutB.configurations, withoutB.reached, withoutB.setAside]).toEqual([['c'], [7, 2], {}]);
  expect(withoutCurrent(withoutB)).toMatchObject({ configurations: [], reached: null });
});

test('the present configuration stays where it is', () => {
  expect(turnedTo(recovery, 'a')).toBe(recovery);
});
