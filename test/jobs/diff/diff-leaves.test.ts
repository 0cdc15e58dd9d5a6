import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicaliseJob } from '../../../src/jobs/canonical/canonicalise-job.js';
import { diffJobs } from '../../../src/jobs/diff/diff-jobs.js';
import type { FieldDiff, JobDiff, ObjectDiff } from '../../../src/jobs/diff/job-diff.js';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import { type Block, type Field, type FieldSet, storedFields } from '../../../src/jobs/document/field-table.js';
import { type Job, jobBlock } from '../../../src/jobs/document/job.js';
import { taskBlock } from '../../../src/jobs/document/task.js';
import { taskGroupBlock } from '../../../src/jobs/document/task-group.js';
import { jobInputs } from '../../support/job-inputs.js';

const stored = (input: object): Job => canonicaliseJob(decodeJob({ ...input, ID: 'web' })._unsafeUnwrap());
const diff = (old: Job, next: Job, contextual = false): JobDiff => diffJobs(old, next, { contextual })._unsafeUnwrap();

/** Every block that may be there once. */
const whole = stored({
  Type: 'batch',
  Periodic: { Spec: '@daily' },
  ParameterizedJob: {},
  Multiregion: { Strategy: {} },
  UI: {},
  TaskGroups: [
    {
      Name: 'g',
      Update: {},
      Migrate: {},
      Disconnect: {},
      Consul: {},
      Scaling: { Max: 3 },
      Tasks: [
        {
          Name: 't',
          Vault: {},
          Consul: {},
          DispatchPayload: {},
          Lifecycle: {},
          CSIPluginConfig: {},
          ScalingPolicies: [],
        },
      ],
    },
  ],
});

type Path = readonly (string | number)[];

const scalars: ReadonlySet<string> = new Set(['string', 'boolean', 'integer', 'duration']);

/** The scalars of a block and of the blocks in it that are there once and are not null. */
function leavesOf(block: Block<FieldSet>, path: Path): Path[] {
  return storedFields(block).flatMap(([name, field]) => {
    if (scalars.has(field.kind)) return [[...path, name]];
    const inside = at([...path, name]);
    if (field.kind !== 'block' || typeof inside !== 'object' || inside === null) return [];
    return leavesOf((field as Field<unknown, unknown>).block as Block<FieldSet>, [...path, name]);
  });
}

function at(path: Path): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], whole);
}

const leaves = [
  ...leavesOf(jobBlock, []),
  ...leavesOf(taskGroupBlock, ['TaskGroups', 0]),
  ...leavesOf(taskBlock, ['TaskGroups', 0, 'Tasks', 0]),
];

function otherThan(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  return typeof value === 'number' ? value + 1 : `${typeof value === 'string' ? value : ''}x`;
}

function withLeaf(path: Path, value: unknown): Job {
  const copy = structuredClone(whole) as unknown as Record<string | number, unknown>;
  const parent = path.slice(0, -1).reduce<Record<string | number, unknown>>((one, name) => one[name] as never, copy);
  parent[path.at(-1) ?? ''] = value;
  return copy as unknown as Job;
}

function fieldsOf(found: JobDiff): FieldDiff[] {
  const inside = (objects: readonly ObjectDiff[] | null): FieldDiff[] =>
    (objects ?? []).flatMap((object) => [...(object.Fields ?? []), ...inside(object.Objects)]);
  const own = (part: Pick<ObjectDiff, 'Fields' | 'Objects'>) => [...(part.Fields ?? []), ...inside(part.Objects)];
  const groups = (found.TaskGroups ?? []).flatMap((group) => [...own(group), ...(group.Tasks ?? []).flatMap(own)]);
  return [...own(found), ...groups];
}

/** Parts of the job that a diff does not look at; those of the last list are what the server itself writes. */
const notCompared = [
  ...['Update', 'TaskGroups.0.Update.Stagger', 'TaskGroups.0.MaxRunDuration'],
  ...['TaskGroups.0.StopAfterClientDisconnect', 'TaskGroups.0.MaxClientDisconnect'],
  ...['ID', 'Type', 'CreateIndex', 'ModifyIndex'].map((name) => `TaskGroups.0.Scaling.${name}`),
  ...['RestartPolicy', 'Lifecycle', 'CSIPluginConfig'].map((name) => `TaskGroups.0.Tasks.0.${name}`),
  ...['Status', 'StatusDescription', 'Stable', 'Version', 'NomadTokenID', 'SubmitTime'],
  ...['CreateIndex', 'ModifyIndex', 'JobModifyIndex'],
];
const isCompared = (path: Path): boolean =>
  !notCompared.some((part) => path.join('.') === part || path.join('.').startsWith(`${part}.`));

/** A name is what jobs, groups and tasks are told apart by; that of a task's identity is a field like others. */
const isIdentity = (path: Path): boolean =>
  ['ID', 'TaskGroups.0.Name', 'TaskGroups.0.Tasks.0.Name'].includes(path.join('.'));

describe('a field that alone changes', () => {
  const looked = leaves.filter((path) => !isIdentity(path));

  test.each(looked.filter(isCompared).map((path) => [path.join('.'), path] as const))('%s is told once', (_, path) => {
    const changed = withLeaf(path, otherThan(at(path)));
    const [Old, New] = [at(path), otherThan(at(path))].map(
      (value) => `${(value as string | number | boolean | null) ?? ''}`,
    );
    const isSame = (field: FieldDiff): boolean => field.Type === 'None';
    for (const contextual of [false, true]) {
      const there = fieldsOf(diff(whole, changed, contextual)).filter((field) => !isSame(field));
      expect(there).toMatchObject([{ Name: path.at(-1), New }]);
      // What may be absent is told as `nil` in some blocks.
      expect(['nil', Old]).toContain(there[0]?.Old);
      const back = fieldsOf(diff(changed, whole, contextual)).filter((field) => !isSame(field));
      expect(back).toMatchObject([{ Name: path.at(-1), Old: New, New: there[0]?.Old }]);
    }
    expect(fieldsOf(diff(whole, changed)).filter(isSame)).toEqual([]);
  });

  test.each(looked.filter((path) => !isCompared(path)).map((path) => [path.join('.'), path] as const))(
    '%s is not told',
    (_, path) => {
      expect(fieldsOf(diff(whole, withLeaf(path, otherThan(at(path)))))).toEqual([]);
    },
  );
});

describe('the diff of any two jobs', () => {
  const sides = fc.tuple(jobInputs, jobInputs).map((inputs) => inputs.map((input) => stored(input)) as [Job, Job]);

  test('tells nothing that is the same, unless that is asked for', () => {
    fc.assert(
      fc.property(sides, ([old, next]) => {
        for (const field of fieldsOf(diff(old, next))) {
          expect(field.Type).not.toBe('None');
          // An empty text may come and go in a set of texts.
          if (field.Old !== '') expect(field.New).not.toBe(field.Old);
        }
        for (const field of fieldsOf(diff(old, next, true)))
          if (field.Type === 'None') expect(field.New).toBe(field.Old);
      }),
      { numRuns: 60 },
    );
  });

  test('has an order of its own, whatever that of the entries of maps and of sets', () => {
    fc.assert(
      fc.property(sides, fc.boolean(), ([old, next], contextual) => {
        const found = diff(old, next, contextual);
        expect(JSON.stringify(diff(turned(old), next, contextual))).toBe(JSON.stringify(found));
        expect(JSON.stringify(diff(old, turned(next), contextual))).toBe(JSON.stringify(found));
      }),
      { numRuns: 60 },
    );
  });

  /** With the members of every record the other way round, and constraints, affinities and datacenters, too. */
  function turned(job: Job): Job {
    const turn = (value: unknown, name: string): unknown => {
      if (Array.isArray(value)) {
        const items = value.map((item) => turn(item, ''));
        return ['Constraints', 'Affinities', 'Datacenters'].includes(name) ? items.reverse() : items;
      }
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, turn(member, key)]),
      );
    };
    return turn(job, '') as Job;
  }
});
