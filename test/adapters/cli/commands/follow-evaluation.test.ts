import { okAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { followEvaluation, followToHealth } from '../../../../adapters/cli/commands/scheduling/follow-evaluation.js';

/* A change is not without effect when another evaluation of its job was at work already. */

const canceled = { ID: 'aaaaaaaa-1', JobID: 'web', Status: 'canceled', ModifyIndex: 7 };

it.each([
  [
    'another one has done its work',
    { Status: 'complete', ModifyIndex: 7 },
    0,
    'evaluation bbbbbbbb has done its work\nevaluation bbbbbbbb is complete\n',
  ],
  ['another one ended at another time', { Status: 'complete', ModifyIndex: 6 }, 1, 'evaluation aaaaaaaa is canceled\n'],
  ['another one was canceled with it', { Status: 'canceled', ModifyIndex: 7 }, 1, 'evaluation aaaaaaaa is canceled\n'],
])('an evaluation is canceled, and %s', async (_name, other, code, end) => {
  let out = '';
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    error: () => undefined,
    isTerminal: false,
  };
  const box = {
    evaluations: {
      read: () => okAsync({ value: canceled, index: 7 }),
      allocations: () => okAsync({ value: [], index: 7 }),
    },
    jobs: { evaluations: () => okAsync({ value: [canceled, { ID: 'bbbbbbbb-2', ...other }], index: 7 }) },
  };
  const invocation = { terminal, box, inNamespace: {} } as unknown as Parameters<typeof followEvaluation>[0];
  expect(await followEvaluation(invocation, canceled.ID)).toBe(code);
  expect(out.endsWith(end), out).toBe(true);
});

const exhausted = { NodesEvaluated: 1, NodesExhausted: 1, DimensionExhausted: { memory: 1 }, CoalescedFailures: 0 };
const first = {
  ID: 'aaaaaaaa-1',
  JobID: 'web',
  DeploymentID: 'd1',
  Status: 'complete',
  CreateIndex: 5,
  ModifyIndex: 6,
};
const later = { ID: 'cccccccc-3', JobID: 'web', Status: 'complete', CreateIndex: 8, ModifyIndex: 9 };
const blocked = { ...later, ID: 'dddddddd-4', Status: 'blocked', FailedTGAllocs: { g: exhausted } };

it.each([
  ['could not place the next allocation', [{ ...later, FailedTGAllocs: { g: exhausted } }, blocked, first], 2],
  ['placed the next allocation', [later, first], 0],
  [
    'placed what an earlier one could not',
    [
      { ...later, ID: 'eeeeeeee-5', CreateIndex: 10, ModifyIndex: 11 },
      { ...later, FailedTGAllocs: { g: exhausted } },
    ],
    0,
  ],
])('a later evaluation of a deployment %s', async (_name, evaluations, code) => {
  const deployment = { ID: 'd1', JobID: 'web', JobVersion: 1, StatusDescription: '', TaskGroups: {} };
  let reads = 0;
  const forever = () => new Promise<never>(() => undefined);
  const box = {
    evaluations: {
      read: () => okAsync({ value: first, index: 7 }),
      allocations: () => okAsync({ value: [], index: 7 }),
    },
    jobs: {
      read: () => okAsync({ value: { TaskGroups: [] }, index: 7 }),
      evaluations: ({ length: _ }: string, { index }: { index?: number }) =>
        index === undefined ? okAsync({ value: evaluations, index: 7 }) : forever(),
    },
    deployments: {
      read: () => {
        reads += 1;
        return reads > 2 && code === 2
          ? forever()
          : okAsync({ value: { ...deployment, Status: statusAt(reads) }, index: 7 });
      },
      allocations: (_id: string, { index }: { index?: number }) =>
        index === undefined ? okAsync({ value: [], index: 7 }) : forever(),
    },
  };
  const statusAt = (read: number): string => (read > 1 && code === 0 ? 'successful' : 'running');
  let error = '';
  const terminal = {
    out: () => undefined,
    error: (text: string) => {
      error += text;
    },
  };
  const invocation = { terminal, box, inNamespace: {} } as unknown as Parameters<typeof followEvaluation>[0];
  expect(await followToHealth(invocation, first.ID)).toBe(code);
  expect(error).toBe(
    code === 0
      ? ''
      : 'signalbox: job "web" could not be placed: group "g" (1 unplaced): resources exhausted on 1 node, ' +
          'dimension "memory": exhausted on 1 node\n',
  );
});
