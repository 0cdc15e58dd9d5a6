import { describe, expect, test } from 'vitest';
import type { JobInput } from '../../../src/jobs/document/submitted-job.js';
import { validateJob } from '../../../src/jobs/validation/validate-job.js';
import { canonicalJob } from '../canonical-job.js';

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const rule = (RTarget: string, Operand = 'regexp' as const, LTarget = '${attr.x}') => ({ LTarget, RTarget, Operand });
const groups = (count: number, tasks = 1) =>
  list(count, (at) => ({
    Name: `g${at}`,
    Tasks: list(tasks, (number) => ({ Name: `t${number}`, Driver: 'raw_exec' })),
  }));
const spread = { Attribute: '${node.datacenter}', Weight: 1 };
const meta = (count: number) => Object.fromEntries(list(count, (at) => [`k${at}`, 'v']));

function errors(job: JobInput): readonly string[] {
  return validateJob(canonicalJob({ ID: 'web', Name: 'web', TaskGroups: groups(1), ...job })).errors;
}

describe('a job that makes too much work is refused for that alone', () => {
  const many = list(200, (at) => rule(`a${at}`));
  test.each<[string, JobInput, string | undefined]>([
    ['rules of the job', { TaskGroups: groups(500), Spreads: list(100, () => spread) }, undefined],
    [
      'rules of the job for each group',
      { TaskGroups: groups(501), Spreads: list(100, () => spread), Priority: 1_000 },
      'at most 50000 constraints, affinities and spreads are allowed, counting those of the job for each group, not 50100',
    ],
    ['meta', { TaskGroups: groups(100, 10), Meta: meta(500) }, undefined],
    [
      'meta of the job for each task',
      { TaskGroups: groups(100, 10), Meta: meta(501) },
      'meta of the job and its groups has at most 500000 entries, counted for each task, not 501000',
    ],
    ['patterns', { Constraints: [...many, ...many] }, undefined],
    [
      'different patterns',
      { Constraints: many, Affinities: [{ ...rule('b'), Weight: 1 }] },
      'at most 200 different regular expressions and version constraints can be used',
    ],
    [
      'patterns that take long to compile',
      { Constraints: list(2, (at) => rule(`(?i)${'\\pL'.repeat(300)}${at}`)) },
      'the regular expressions would take too long to compile',
    ],
    [
      'a long text that is matched',
      { Constraints: list(10, (at) => rule(`(a|b|c|d)*${at}$`, 'regexp', 'ab'.repeat(5_000))) },
      'the regular expressions would take too long to compile',
    ],
    [
      'cron expressions',
      { Type: 'batch', Periodic: { Specs: list(101, () => '@daily') } },
      'a job has at most 100 cron expressions, not 101',
    ],
  ])('%s', (_, job, problem) => {
    expect(errors(job)).toEqual(problem === undefined ? [] : [problem]);
  });
});
