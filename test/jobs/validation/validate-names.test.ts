import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteLength } from '../../../src/jobs/validation/problems.js';
import {
  jobIdProblem,
  operationSuffixes,
  validateName,
  validateTaskName,
} from '../../../src/jobs/validation/validate-strings.js';

const halfOfAPair = '\ud83d';

function problemsOf(validate: typeof validateName, name: string): string[] {
  const problems: string[] = [];
  validate(name, (problem) => problems.push(problem));
  return problems;
}

describe('the ID of a job', () => {
  test.each([
    'web',
    'a/b.c-d/e',
    'ünï',
    '😀',
    'q?x=1&y#z',
    'x%2Fy',
    '...',
    'plan',
    'dispatch',
    'x/plans',
    'i'.repeat(300),
  ])('%s can be addressed', (id) => {
    expect(jobIdProblem(id)).toBeUndefined();
  });

  test.each([
    ['', 'has no ID'],
    ['a b', 'a space'],
    ['a\0b', 'NUL'],
    [`a${halfOfAPair}b`, 'half of a surrogate pair'],
    ['i'.repeat(8_001), 'longer than 8000 bytes'],
    ['é'.repeat(2_000), 'longer than 8000 bytes'],
    ['.', '"." or ".."'],
    ['..', '"." or ".."'],
    ['a/../b', '"." or ".."'],
    ['a/./b', '"." or ".."'],
  ])('%j cannot', (id, text) => {
    expect(jobIdProblem(id)).toContain(text);
  });

  test.each(operationSuffixes)('x/%s would be taken for an operation on x', (suffix) => {
    expect(jobIdProblem(`x/${suffix}`)).toContain(`ends in "/${suffix}"`);
  });

  test('what is accepted survives a path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (id) => {
        if (jobIdProblem(id) !== undefined) return;
        const { pathname } = new URL(`/v1/job/${encodeURIComponent(id)}`, 'http://host');
        expect(decodeURIComponent(pathname.slice('/v1/job/'.length))).toBe(id);
      }),
    );
  });
});

describe('names of groups and tasks', () => {
  test.each(['web', 'a b', 'ü', 'n'.repeat(128), '...', '.hidden'])('%s is a name', (name) => {
    expect(problemsOf(validateName, name)).toEqual([]);
    expect(problemsOf(validateTaskName, name)).toEqual([]);
  });

  test.each([
    ['', 'is required'],
    ['.', 'must not be "."'],
    ['..', 'must not be ".."'],
    ['a\0', 'NUL'],
    [`a${halfOfAPair}`, 'half of a surrogate pair'],
    ['n'.repeat(129), 'longer than 128 bytes'],
    ['ü'.repeat(65), 'longer than 128 bytes'],
  ])('%j is none', (name, text) => {
    expect(problemsOf(validateName, name)).toEqual([expect.stringContaining(text)]);
    expect(problemsOf(validateTaskName, name)).toEqual([expect.stringContaining(text)]);
  });

  test.each(['a/b', 'a\\b', '/', 'alloc'])('%s is a name for a group but not for a task', (name) => {
    expect(problemsOf(validateName, name)).toEqual([]);
    expect(problemsOf(validateTaskName, name)).toHaveLength(1);
  });
});

test('byteLength counts as UTF-8 does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, broken) => {
      const whole = broken ? `${text}${halfOfAPair}` : text;
      expect(byteLength(whole)).toBe(Buffer.byteLength(whole));
    }),
  );
});
