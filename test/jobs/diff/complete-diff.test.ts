import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicaliseJob } from '../../../src/jobs/canonical/canonicalise-job.js';
import { registrationOf } from '../../../src/jobs/changes/decide-registration.js';
import { diffJobs } from '../../../src/jobs/diff/diff-jobs.js';
import type { FieldDiff, JobDiff, ObjectDiff } from '../../../src/jobs/diff/job-diff.js';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import { type Block, type Field, type FieldSet, submittedFields } from '../../../src/jobs/document/field-table.js';
import { type Job, jobBlock, jobTypes } from '../../../src/jobs/document/job.js';
import { jobInputs } from '../../support/job-inputs.js';

const submitted = new WeakMap<object, Job>();

/** The job as it is submitted. An input is decoded once. */
function submittedJob(input: object): Job {
  const job = submitted.get(input) ?? canonicaliseJob(decodeJob({ ...input, ID: 'web' })._unsafeUnwrap());
  submitted.set(input, job);
  return job;
}

/** The job as a registration stores it, over `current` if there is one; undefined when that makes no version. */
function registered(input: object, current?: Job): Job | undefined {
  const job = submittedJob(input);
  const request = { job, version: null, policyId: () => 'policy' };
  const decided = registrationOf(current, request, current === undefined ? 7 : 8, 0);
  return decided.type === 'unchanged' ? undefined : decided.job;
}

const stored = (input: object): Job => registered(input) as Job;

function whatChanges(old: object, next: object): JobDiff {
  const before = stored(old);
  const after = registered(next, before) ?? before;
  return diffJobs(before, after, { contextual: true, complete: true })._unsafeUnwrap();
}

interface Shown {
  /** Names of the objects around the field. */
  readonly within: readonly string[];
  readonly field: FieldDiff;
}

/** Every changed field, with the objects that it stands in. */
function shownIn(diff: JobDiff): Shown[] {
  const inside = ({ Fields, Objects }: Pick<ObjectDiff, 'Fields' | 'Objects'>, within: readonly string[]): Shown[] => [
    ...(Fields ?? []).filter(({ Type }) => Type !== 'None').map((field) => ({ within, field })),
    ...(Objects ?? []).flatMap((object) => inside(object, [...within, object.Name])),
  ];
  const groups = (diff.TaskGroups ?? []).flatMap((group) => [
    ...inside(group, [group.Name]),
    ...(group.Tasks ?? []).flatMap((task) => inside(task, [group.Name, task.Name])),
  ]);
  return [...inside(diff, []), ...groups];
}

/** Something was added or removed, or a field has another value. */
function isVisible(diff: JobDiff): boolean {
  const parts: ObjectDiff[] = [
    { ...diff, Name: diff.ID },
    ...(diff.TaskGroups ?? []).flatMap((each) => [each, ...(each.Tasks ?? [])]),
  ];
  const within = (object: ObjectDiff): ObjectDiff[] => [object, ...(object.Objects ?? []).flatMap(within)];
  const comesOrGoes = parts.flatMap(within).some(({ Type }) => Type === 'Added' || Type === 'Deleted');
  return comesOrGoes || shownIn(diff).length > 0;
}

type Path = readonly (string | number)[];
type Document = Record<string | number, unknown>;

/** A value of every field, each list and map with one element. */
function whole(block: Block<FieldSet>): Document {
  return Object.fromEntries(submittedFields(block).map(([name, field]) => [name, exampleOf(field)]));
}

function exampleOf(field: Field<unknown, unknown>): unknown {
  const block = field.block as Block<FieldSet>;
  switch (field.kind) {
    case 'string':
      return field.values?.[0] ?? 'a';
    case 'boolean':
      return true;
    case 'integer':
    case 'duration':
      return 3;
    case 'base64':
      return 'YQ==';
    case 'strings':
      return ['a'];
    case 'integers':
      return [3];
    case 'string_map':
    case 'free_form':
      return { k: 'a' };
    case 'string_list_map':
      return { k: ['a'] };
    case 'block':
      return whole(block);
    case 'blocks':
      return [whole(block)];
    case 'block_map':
      return { k: whole(block) };
  }
}

/** The paths of all fields of a document, of blocks too. */
function pathsOf(block: Block<FieldSet>, path: Path = []): { path: Path; field: Field<unknown, unknown> }[] {
  return submittedFields(block).flatMap(([name, field]) => {
    const here = [...path, name];
    const inside = field.kind === 'block' ? [] : field.kind === 'blocks' ? [0] : ['k'];
    const nested = field.block === undefined ? [] : pathsOf(field.block, [...here, ...inside]);
    return [{ path: here, field }, ...nested];
  });
}

function otherThan(value: unknown, field: Field<unknown, unknown>): unknown {
  if (field.values !== undefined) return field.values[1] ?? 'x';
  if (typeof value === 'string') return field.kind === 'base64' ? 'Yg==' : 'b';
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (field.kind === 'strings') return ['b'];
  if (field.kind === 'integers') return [4];
  return field.kind === 'string_list_map' ? { k: ['b'] } : { k: 'b' };
}

function withValue(document: Document, [name, ...path]: Path, value: unknown): Document {
  const copy = (Array.isArray(document) ? [...document] : { ...document }) as Document;
  if (name !== undefined) copy[name] = path.length === 0 ? value : withValue(copy[name] as Document, path, value);
  return copy;
}

const all = pathsOf(jobBlock).filter(({ path }) => path.join() !== 'ID');
const named = ['TaskGroups.0.Name', 'TaskGroups.0.Tasks.0.Name'];

describe.each(jobTypes.map((type) => [type]))('each field of a %s job, changed alone', (Type) => {
  const base = { ...whole(jobBlock), ID: 'web', Type };
  const old = stored(base);

  function check(before: Job, input: object, path: Path): Shown[] | undefined {
    const after = registered(input, before);
    if (after === undefined) return undefined;
    const diff = diffJobs(before, after, { contextual: true, complete: true })._unsafeUnwrap();
    const where = path.join('.');
    expect(diff.Type, where).toBe('Edited');
    expect(isVisible(diff), where).toBe(true);
    const shown = shownIn(diff);
    for (const { field } of shown) expect(field.Old, where).not.toBe(field.New);
    return shown;
  }

  test('is shown with its old and its new value', () => {
    const leaves = all.filter(({ path, field }) => field.block === undefined && !named.includes(path.join('.')));
    expect(leaves.length).toBeGreaterThan(250);
    for (const { path, field } of leaves) {
      if (path.join() === 'Type') continue;
      const value = path.reduce<unknown>((one, name) => (one as Document)[name], base);
      const shown = check(old, withValue(base, path, otherThan(value, field)), path);
      if (shown === undefined) continue;
      const mentioned = shown.flatMap((one) => [...one.within, one.field.Name.replace(/\[.*/s, '')]);
      const name = field.storedName ?? String(path.at(-1));
      const renamed: Readonly<Record<string, string>> = {
        Args: 'CNIConfig',
        Spec: 'Specs',
        Enabled: 'Disabled',
        Address: 'EnvoyGatewayBindAddresses',
        Port: 'EnvoyGatewayBindAddresses',
      };
      expect(
        [name, renamed[name] ?? ''].some((each) => mentioned.includes(each)),
        path.join('.'),
      ).toBe(true);
    }
  });

  test('is shown when it is added, and when it is removed', () => {
    for (const { path } of all.filter((each) => !named.includes(each.path.join('.')))) {
      if (['TaskGroups', 'TaskGroups.0.Tasks', 'Type'].includes(path.join('.'))) continue;
      const without = withValue(base, path, null);
      check(stored(without), base, path);
      check(old, without, path);
    }
  });
});

describe('what makes a version is never planned as no change', () => {
  const show = (old: object, next: object) =>
    shownIn(whatChanges(old, next)).map(
      ({ within, field: { Name, Old, New } }) => `${[...within, Name].join('/')}: ${Old} → ${New}`,
    );
  const group = (part: object) => ({ TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't' }], ...part }] });
  const task = (part: object) => group({ Tasks: [{ Name: 't', ...part }] });
  const spread = (Attribute: string, Weight: number) => ({ Attribute, Weight });

  test.each<[string, object, object, string[]]>([
    [
      'a spread',
      { Spreads: [spread('a', 30)] },
      { Spreads: [spread('a', 60), spread('b', 5)] },
      ['Spread/Weight: 30 → 60', 'Spread/Attribute:  → b', 'Spread/Weight:  → 5'],
    ],
    [
      'a target of a group’s spread',
      group({ Spreads: [{ Attribute: 'a', SpreadTarget: [{ Value: 'x', Percent: 5 }] }] }),
      group({ Spreads: [{ Attribute: 'a', SpreadTarget: [{ Value: 'x', Percent: 6 }] }] }),
      ['g/Spread/SpreadTarget/Percent: 5 → 6'],
    ],
    [
      'a lifecycle',
      task({ Lifecycle: { Hook: 'prestart' } }),
      task({ Lifecycle: { Hook: 'poststop' } }),
      ['g/t/Lifecycle/Hook: prestart → poststop'],
    ],
    [
      'a sidecar',
      task({ Lifecycle: { Hook: 'prestart' } }),
      task({ Lifecycle: { Hook: 'prestart', Sidecar: true } }),
      ['g/t/Lifecycle/Sidecar: false → true'],
    ],
    [
      'restarts of a task',
      task({ RestartPolicy: { Attempts: 1 } }),
      task({ RestartPolicy: { Attempts: 9 } }),
      ['g/t/RestartPolicy/Attempts: 1 → 9'],
    ],
    [
      'restarts of a group, which its tasks have, too',
      group({ RestartPolicy: { Attempts: 1 } }),
      group({ RestartPolicy: { Attempts: 9 } }),
      ['g/RestartPolicy/Attempts: 1 → 9'],
    ],
    [
      'scaling of a task',
      task({ ScalingPolicies: [{ Type: 'vertical_cpu', Min: 1, Max: 5 }] }),
      task({ ScalingPolicies: [{ Type: 'vertical_cpu', Min: 1, Max: 9 }] }),
      ['g/t/ScalingPolicy/Max: 5 → 9'],
    ],
    ['the longest run', group({}), group({ MaxRunDuration: 5 }), ['g/MaxRunDuration:  → 5']],
    [
      'the stagger of the job',
      { ...group({}), Update: { Stagger: 5 } },
      { ...group({}), Update: { Stagger: 6 } },
      ['g/Update/Stagger: 5 → 6'],
    ],
    [
      'an update policy that all groups override',
      { ...group({ Update: { MaxParallel: 7 } }), Update: { MaxParallel: 2 } },
      { ...group({ Update: { MaxParallel: 7 } }), Update: { MaxParallel: 3 } },
      ['Update/MaxParallel: 2 → 3'],
    ],
    [
      'the order of datacenters',
      { Datacenters: ['a', 'b'] },
      { Datacenters: ['b', 'a'] },
      ['Datacenters/Datacenters[0]: a → b', 'Datacenters/Datacenters[1]: b → a'],
    ],
    [
      'the order of groups',
      { TaskGroups: ['a', 'b', 'c'].map((Name) => ({ Name })) },
      { TaskGroups: ['a', 'c', 'b'].map((Name) => ({ Name })) },
      ['TaskGroups/TaskGroups[1]: b → c', 'TaskGroups/TaskGroups[2]: c → b'],
    ],
    [
      'the order of tasks',
      group({ Tasks: [{ Name: 'a' }, { Name: 'b' }] }),
      group({ Tasks: [{ Name: 'b' }, { Name: 'a' }] }),
      ['g/Tasks/Tasks[0]: a → b', 'g/Tasks/Tasks[1]: b → a'],
    ],
    ['an empty entry', {}, { Meta: { a: '' } }, ['Meta/a:  → ""']],
    [
      'the kind of a value',
      task({ Config: { port: 80 } }),
      task({ Config: { port: '80' } }),
      ['g/t/Config/port: 80 → "80"'],
    ],
    ['an empty list', task({ Config: { a: 1 } }), task({ Config: { a: 1, b: [] } }), ['g/t/Config/b:  → []']],
    [
      'a constraint of a device',
      task({ Resources: { Devices: [{ Name: 'gpu' }] } }),
      task({ Resources: { Devices: [{ Name: 'gpu', Constraints: [{ LTarget: 'a', Operand: '=', RTarget: 'b' }] }] } }),
      [
        'g/t/Resources/Device/Constraint/LTarget:  → a',
        'g/t/Resources/Device/Constraint/Operand:  → =',
        'g/t/Resources/Device/Constraint/RTarget:  → b',
      ],
    ],
  ])('%s', (_what, old, next, expected) => {
    expect(show(old, next)).toEqual(expected);
  });

  test('parts of a new task', () => {
    const shown = show(
      group({}),
      group({
        Tasks: [{ Name: 't' }, { Name: 'u', Lifecycle: { Hook: 'prestart' }, RestartPolicy: { Attempts: 4 } }],
      }),
    );
    expect(shown).toEqual(
      expect.arrayContaining(['g/u/Lifecycle/Hook:  → prestart', 'g/u/RestartPolicy/Attempts:  → 4']),
    );
  });

  const jobs = jobInputs.filter((input) => namesAreUnique(stored(input)));

  test('of any two jobs', () => {
    fc.assert(
      fc.property(jobs, jobs, (old, next) => {
        expect(whatChanges(old, next).Type).toBe(registered(next, stored(old)) === undefined ? 'None' : 'Edited');
        expect(whatChanges(next, next).Type).toBe('None');
      }),
      { numRuns: 100 },
    );
  });

  test('of a job in which one field of any depth has changed', () => {
    const change = fc.tuple(jobs, jobs, fc.nat(), fc.nat(), fc.nat());
    fc.assert(
      fc.property(change, ([input, other, ...choices]) => {
        const next = replaced(input, other, choices) as object;
        if (!namesAreUnique(stored(next))) return;
        const diff = whatChanges(input, next);
        expect(diff.Type).toBe(registered(next, stored(input)) === undefined ? 'None' : 'Edited');
        if (diff.Type === 'Edited') expect(isVisible(diff)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  function namesAreUnique({ TaskGroups: groups }: Job): boolean {
    return [groups, ...groups.map(({ Tasks }) => Tasks)].every(
      (list: readonly { readonly Name: string }[]) => new Set(list.map(({ Name }) => Name)).size === list.length,
    );
  }

  /** A document in which one member, as deep as there are choices, is the one of another document. */
  function replaced(value: unknown, other: unknown, [choice, ...choices]: readonly number[]): unknown {
    if (typeof value !== 'object' || value === null || typeof other !== 'object' || other === null) return other;
    const names = Object.keys({ ...value, ...other });
    const name = names[(choice ?? 0) % Math.max(names.length, 1)];
    if (choice === undefined || name === undefined) return other;
    const copy = structuredClone(value) as Document;
    copy[name] = replaced(copy[name], (other as Document)[name], choices);
    return Array.isArray(copy) ? (copy as unknown[]).filter((one) => one !== undefined) : copy;
  }
});
