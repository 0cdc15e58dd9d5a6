import { describe, expect, it } from 'vitest';
import { comparedRows, type KnownRun, versionOf } from '../../../web/rules/compare-runs.js';

const run = (more = {}) => ({
  namespace: 'default',
  parentId: 'report',
  number: 1,
  jobId: 'report/dispatch-1',
  version: 3,
  outcome: 'failed',
  createdAt: '2026-11-28T14:00:00.000Z',
  startedAt: '2026-11-28T14:00:02.000Z',
  endedAt: '2026-11-28T14:00:12.000Z',
  failure: { allocationId: 'a1', exitCode: 3, message: 'fatal: no data' },
  ...more,
});
const job = (more = {}) => ({
  Version: 3,
  Meta: { customer: 'bob', team: 'core' },
  Payload: btoa('{"day":1}'),
  ParameterizedJob: { MetaRequired: ['customer'], MetaOptional: ['day'] },
  ...more,
});
const allocation = (NodeName: string, Restarts = 0) => ({ NodeName, TaskStates: { main: { Restarts, Events: null } } });
const known: KnownRun = { run: run(), job: job(), allocations: [allocation('n-1')] };
const collected: KnownRun = { run: run({ startedAt: undefined }), job: undefined, allocations: undefined };

const rowsOf = (...runs: KnownRun[]) =>
  Object.fromEntries(comparedRows(runs).map(({ name, values, differs }) => [name, { values, differs }]));

it('has the facts of one run', () => {
  const rows = rowsOf(known);
  expect(Object.fromEntries(Object.entries(rows).map(([name, { values }]) => [name, values[0]]))).toEqual({
    Outcome: 'failed',
    'Input customer': 'bob',
    'Input day': '',
    'Meta team': 'core',
    Payload: '{"day":1}',
    Waited: '2 s',
    Took: '10 s',
    'Exit code': '3',
    'First error': 'fatal: no data',
    Node: 'n-1',
    Attempts: '1 allocation, 0 restarts',
    'Version of the job': '3',
  });
  expect(Object.values(rows).some(({ differs }) => differs)).toBe(false);
});

describe('two runs differ in', () => {
  it.each([
    ['nothing', {}, []],
    ['the outcome', { run: run({ outcome: 'timed_out' }) }, ['Outcome']],
    ['the end', { run: undefined }, ['Outcome']],
    ['the input', { job: job({ Meta: { customer: 'eve', team: 'core' } }) }, ['Input customer']],
    ['a meta that one lacks', { job: job({ Meta: { customer: 'bob' } }) }, ['Meta team']],
    ['the payload', { job: job({ Payload: null }) }, ['Payload']],
    [
      'the exit code',
      { run: run({ failure: { allocationId: 'a1', exitCode: 4, message: 'fatal: no data' } }) },
      ['Exit code'],
    ],
    ['the error', { run: run({ failure: undefined }) }, ['Exit code', 'First error']],
    ['the node and the attempts', { allocations: [allocation('n-1', 2), allocation('n-2')] }, ['Node', 'Attempts']],
    ['the version', { run: run({ version: 4 }) }, ['Version of the job']],
    ['the duration', { run: run({ endedAt: '2026-11-28T14:00:14.000Z' }) }, ['Took']],
    ['a tenth of the duration, which is no difference', { run: run({ endedAt: '2026-11-28T14:00:12.900Z' }) }, []],
    ['a part of a second, which is no difference', { run: run({ createdAt: '2026-11-28T14:00:00.900Z' }) }, []],
    ['the start', { run: run({ startedAt: undefined }) }, ['Waited', 'Took']],
  ])('%s', (_, change, names) => {
    const rows = rowsOf(known, { ...known, ...change });
    expect(Object.keys(rows).filter((name) => rows[name]?.differs)).toEqual(names);
  });

  it('nothing for a second more in a hundred', () => {
    const of = (second: string): KnownRun => ({ ...known, run: run({ endedAt: `2026-11-28T14:01:${second}.000Z` }) });
    expect(rowsOf(of('40'), of('42'))['Took']).toEqual({ values: ['1 min 38 s', '1 min 40 s'], differs: false });
  });

  it('nothing that is not known any more', () => {
    const rows = rowsOf(known, collected);
    expect(rows['Input customer']).toEqual({ values: ['bob', undefined], differs: false });
    expect(rows['Node']).toEqual({ values: ['n-1', undefined], differs: false });
    expect(rows['Took']).toEqual({ values: ['10 s', 'never started'], differs: true });
  });
});

it('has the exit code of a success', () => {
  expect(rowsOf({ ...known, run: run({ outcome: 'succeeded', failure: undefined }) })['Exit code']?.values).toEqual([
    '0',
  ]);
});

it('takes the version from the record of the run, and from the job while it is under way', () => {
  expect([known, { ...known, run: undefined }, { ...collected, run: undefined }].map(versionOf)).toEqual([
    3,
    3,
    undefined,
  ]);
});

it('shows a payload in UTF-8, and names of objects as names', () => {
  const Payload = btoa(String.fromCharCode(...new TextEncoder().encode('é🚀')));
  const rows = rowsOf(
    { ...known, job: job({ Payload, Meta: { constructor: 'x' } }) },
    { ...known, job: job({ Meta: {} }) },
  );
  expect(rows['Payload']?.values).toEqual(['é🚀', '{"day":1}']);
  expect(
    comparedRows([{ ...known, job: job({ Meta: {} }) }]).find(({ name }) => name === 'Meta constructor'),
  ).toBeUndefined();
  expect(rows['Meta constructor']?.values).toEqual(['x', '']);
});
