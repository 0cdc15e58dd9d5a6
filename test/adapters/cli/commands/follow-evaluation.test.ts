import { okAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { followEvaluation } from '../../../../adapters/cli/commands/scheduling/follow-evaluation.js';

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
