import { describe, expect, test } from 'vitest';
import { annotateDiff, type PlanAnnotations } from '../../../src/jobs/diff/annotate-diff.js';
import { diffJobs } from '../../../src/jobs/diff/diff-jobs.js';
import type { JobDiff, TaskGroupDiff } from '../../../src/jobs/diff/job-diff.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { JobInput } from '../../../src/jobs/document/submitted-job.js';
import { canonicalJob } from '../canonical-job.js';

type GroupInput = NonNullable<NonNullable<JobInput['TaskGroups']>[number]>;
type TaskInput = NonNullable<NonNullable<GroupInput['Tasks']>[number]>;

const group = (part: GroupInput = {}, task: TaskInput = {}): GroupInput => ({
  Name: 'g',
  Tasks: [{ Name: 't', ...task }],
  ...part,
});

function diff(old: GroupInput[] | null, next: GroupInput[] | null, contextual = true): JobDiff {
  const job = (TaskGroups: GroupInput[] | null) => TaskGroups && canonicalJob({ ID: 'web', TaskGroups });
  return diffJobs(job(old), job(next), { contextual })._unsafeUnwrap();
}

function annotated(found: JobDiff, annotations: PlanAnnotations | null = null): TaskGroupDiff {
  const first = annotateDiff(found, annotations).TaskGroups?.[0];
  if (first === undefined) throw new Error('the diff has no group');
  return first;
}

describe('counts of a group', () => {
  const found = diff([group()], [group({ Count: 2 })]);

  test('those that are not 0, in the words of the diff', () => {
    const counts = {
      Ignore: 1,
      Place: 2,
      Migrate: 3,
      Stop: 4,
      InPlaceUpdate: 5,
      DestructiveUpdate: 6,
      Canary: 7,
    };
    expect(annotated(found, { DesiredTGUpdates: { g: counts } }).Updates).toEqual({
      ignore: 1,
      create: 2,
      migrate: 3,
      destroy: 4,
      'in-place update': 5,
      'create/destroy update': 6,
      canary: 7,
    });
    expect(annotated(found, { DesiredTGUpdates: { g: { Place: 1, Stop: 0 } } }).Updates).toEqual({ create: 1 });
  });

  test('an entry that counts nothing is not the same as no entry', () => {
    expect(annotated(found, { DesiredTGUpdates: { g: {} } }).Updates).toEqual({});
    expect(annotated(found, { DesiredTGUpdates: { other: { Place: 1 } } }).Updates).toBeNull();
    expect(annotated(found, null).Updates).toBeNull();
  });

  test('a group with the name of an inherited member has no counts of its own', () => {
    const odd = diff(null, [group({ Name: 'constructor' })]);
    expect(annotated(odd, { DesiredTGUpdates: {} }).Updates).toBeNull();
  });
});

describe('the count', () => {
  test.each<[GroupInput[] | null, GroupInput[] | null, string[]]>([
    [[group()], [group({ Count: 3 })], ['forces create']],
    [[group({ Count: 3 })], [group()], ['forces destroy']],
    [null, [group()], ['forces create']],
    [[group()], null, ['forces destroy']],
  ])('%#', (old, next, expected) => {
    const count = annotated(diff(old, next)).Fields?.find(({ Name }) => Name === 'Count');
    expect(count?.Annotations).toEqual(expected);
  });

  test('a count of 0 that comes or goes forces nothing', () => {
    expect(annotated(diff(null, [group({ Count: 0 })])).Fields?.[0]?.Annotations).toBeNull();
  });
});

describe('tasks', () => {
  const ofTask = (old: GroupInput[] | null, next: GroupInput[] | null, contextual = true) =>
    annotated(diff(old, next, contextual)).Tasks?.[0]?.Annotations;
  const inPlace = ['forces in-place update'];
  const destructive = ['forces create/destroy update'];

  test('of a new and of a removed group', () => {
    expect(ofTask(null, [group()])).toEqual(['forces create']);
    expect(ofTask([group()], null)).toEqual(['forces destroy']);
  });

  test('unchanged in an edited group', () => {
    expect(ofTask([group()], [group({ Count: 2 })])).toBeNull();
  });

  test('added to a group that runs', () => {
    const more = { ...group(), Tasks: [{ Name: 'a' }, { Name: 't' }] };
    expect(ofTask([group()], [more])).toEqual(destructive);
  });

  test.each<[string, TaskInput, string[]]>([
    ['kill_timeout', { KillTimeout: 9 }, inPlace],
    ['a constraint', { Constraints: [{ LTarget: 'a', Operand: '=', RTarget: 'b' }] }, inPlace],
    ['an affinity', { Affinities: [{ LTarget: 'a', Operand: '=', RTarget: 'b' }] }, inPlace],
    ['a service', { Services: [{ Name: 's', Provider: 'nomad' }] }, inPlace],
    ['something that the diff does not show', { Lifecycle: { Hook: 'poststart' } }, inPlace],
    ['the environment', { Env: { A: 'b' } }, destructive],
    ['the configuration', { Config: { a: 'b' } }, destructive],
    ['resources', { Resources: { CPU: 7 } }, destructive],
  ])('an edit of %s', (_what, part, expected) => {
    expect(ofTask([group()], [group({}, part)])).toEqual(expected);
  });

  test.each<[string, TaskInput, string[]]>([
    ['the lifecycle', { Lifecycle: { Hook: 'poststart' } }, inPlace],
    ['restarts', { RestartPolicy: { Attempts: 9 } }, inPlace],
    ['scaling', { ScalingPolicies: [{ Type: 'vertical_cpu', Max: 5 }] }, inPlace],
    ['templates at a restart', { RestartPolicy: { RenderTemplates: true } }, destructive],
  ])('an edit of %s, which only a complete diff shows', (_what, part, expected) => {
    const [old, next] = [[group()], [group({}, part)]].map((TaskGroups) => canonicalJob({ ID: 'web', TaskGroups }));
    const found = diffJobs(old as Job, next as Job, { contextual: true, complete: true })._unsafeUnwrap();
    expect(annotateDiff(found, null).TaskGroups?.[0]?.Tasks?.[0]?.Annotations).toEqual(expected);
  });

  test('an edit of logs replaces the task when the diff lists whether they are collected', () => {
    const sides = [[group()], [group({}, { LogConfig: { MaxFiles: 3 } })]] as const;
    expect(ofTask([...sides[0]], [...sides[1]], true)).toEqual(destructive);
    expect(ofTask([...sides[0]], [...sides[1]], false)).toEqual(inPlace);
  });
});

test('a diff without groups stays as it is', () => {
  const nothing = diff(null, null);
  expect(annotateDiff(nothing, { DesiredTGUpdates: { g: { Place: 1 } } })).toBe(nothing);
});
