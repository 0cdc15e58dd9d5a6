import { describe, expect, test } from 'vitest';
import { gatherProblems, problemsOf, textsByPart, within } from '../../../src/jobs/validation/problems.js';

describe('problems by part', () => {
  const problems = gatherProblems();
  problems.report('no name');
  const web = problems.within('group', 'web');
  const nothing = problems.within('group', 'fine');
  const queue = problems.within('group', 'queue');
  queue('the count is negative');
  within(web, 'task', 't')('a driver is required');
  within(web, 'task', 'u')('a driver is required');

  test('each with its part, in the order in which the parts had their first', () => {
    expect(problemsOf(problems.parts)).toEqual([
      'no name',
      'group "queue": the count is negative',
      'group "web": task "t": a driver is required',
      'group "web": task "u": a driver is required',
    ]);
    expect(nothing).toBeTypeOf('function');
  });

  test('one text for each part', () => {
    expect(textsByPart(problems.parts)).toEqual([
      'no name',
      'group "queue": the count is negative',
      'group "web": 2 errors occurred:\n\t* task "t": a driver is required\n\t* task "u": a driver is required\n\n',
    ]);
  });

  test('a long name is cut', () => {
    const found: string[] = [];
    within((problem) => found.push(problem), 'group', 'x'.repeat(1_000_000))('is long');
    expect(found[0]?.length).toBeLessThan(200);
  });
});
