import { describe, expect, it } from 'vitest';
import { bounded, causeOf, errorLine, type FailedRun, FailureCauses } from '../../../src/jobs/runs/job-run.js';

describe('the line of an output that says what failed', () => {
  it.each<[string, string, string | undefined]>([
    [
      'the first that names an error',
      'start\nERROR no data for bob\n  at render (report.js:41)\nfailed\n',
      'ERROR no data for bob',
    ],
    ['of whatever case', 'start\nUnhandled Exception: x\n', 'Unhandled Exception: x'],
    ['otherwise the last', 'one\ntwo\n\n', 'two'],
    ['none', '', undefined],
    ['none but blanks', ' \n\n', undefined],
  ])('%s', (_, output, line) => expect(errorLine(output)).toBe(line));

  it('is bounded', () => {
    expect(errorLine('e'.repeat(1000))).toHaveLength(300);
    expect(bounded('short')).toBe('short');
  });
});

describe('the cause of a failure', () => {
  it.each([
    ['2026-11-30T08:12:47.123Z no route', '<time> no route'],
    ['at 08:12:47 no route', 'at <time> no route'],
    ['no user 5f2c1b3a-0000-4000-8000-0000000000ff', 'no user <id>'],
    ['connect ECONNREFUSED 10.1.2.3:5432', 'connect ECONNREFUSED <address>'],
    ['commit 9fceb02d missing', 'commit <id> missing'],
    ['no data for "bob"', 'no data for "…"'],
    ["no key 'a b'", "no key '…'"],
    ['Exit Code: 137', 'Exit Code: <n>'],
    ['a  \t b', 'a b'],
    ['deadbeef is a word', 'deadbeef is a word'],
  ])('of %j is %j', (message, cause) => expect(causeOf(message)).toBe(cause));

  it.each(['"'.repeat(300), "'".repeat(300), '1.'.repeat(150), 'a1'.repeat(150), `${'0'.repeat(299)}x`])(
    'takes no time with a hostile message',
    (message) => {
      const before = performance.now();
      for (let run = 0; run < 1000; run += 1) causeOf(message);
      expect(performance.now() - before).toBeLessThan(2000);
    },
  );
});

describe('failures by cause', () => {
  const run = (of: string, id: string, message: string, more: Partial<FailedRun> = {}): FailedRun => ({
    namespace: 'default',
    outcome: 'failed',
    exitCode: 1,
    endedAt: 1000,
    ...{ of, id, message },
    ...more,
  });

  it('are counted, most frequent first, with the jobs that have most of them and the latest run', () => {
    const causes = new FailureCauses();
    for (const each of [
      run('report', 'report/1', 'no data for 17', { endedAt: 3000 }),
      run('report', 'report/2', 'no data for 18', { endedAt: 5000 }),
      run('mail', 'mail/1', 'no data for 19', { endedAt: 1000 }),
      run('report', 'report/3', 'killed', { exitCode: 137 }),
      run('report', 'report/4', 'killed', { exitCode: 1 }),
    ])
      causes.add(each);
    const counted = causes.causes(10);
    expect(counted).toHaveLength(3);
    expect(counted[0]).toEqual({
      outcome: 'failed',
      exitCode: 1,
      cause: 'no data for <n>',
      count: 3,
      share: 0.6,
      firstAt: 1000,
      lastAt: 5000,
      jobs: [
        { namespace: 'default', jobId: 'report', count: 2 },
        { namespace: 'default', jobId: 'mail', count: 1 },
      ],
      example: { id: 'report/2', message: 'no data for 18' },
    });
    expect(causes.causes(1)).toHaveLength(1);
  });
});
