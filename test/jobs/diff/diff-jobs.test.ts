import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicaliseJob } from '../../../src/jobs/canonical/canonicalise-job.js';
import { diffJobs } from '../../../src/jobs/diff/diff-jobs.js';
import type { DiffType, FieldDiff, JobDiff, ObjectDiff } from '../../../src/jobs/diff/job-diff.js';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import type { FreeForm } from '../../../src/jobs/document/field-table.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { JobInput as StrictJobInput } from '../../../src/jobs/document/submitted-job.js';
import { jobInputs } from '../../support/job-inputs.js';
import type { Loose } from '../../support/loose.js';

/** Also with values that the type forbids. */
type JobInput = Loose<StrictJobInput>;

type GroupInput = NonNullable<NonNullable<JobInput['TaskGroups']>[number]>;
type TaskInput = NonNullable<NonNullable<GroupInput['Tasks']>[number]>;

function stored(input: JobInput): Job {
  return canonicaliseJob(decodeJob({ ID: 'web', ...input })._unsafeUnwrap());
}

function diff(old: JobInput | null, next: JobInput | null, contextual = false): JobDiff {
  return diffJobs(old && stored(old), next && stored(next), { contextual })._unsafeUnwrap();
}

const job = (part: JobInput = {}): JobInput => ({ TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't' }] }], ...part });
const ofGroup = (part: GroupInput): JobInput => job({ TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't' }], ...part }] });
const ofTask = (part: TaskInput): JobInput => ofGroup({ Tasks: [{ Name: 't', ...part }] });

/** A diff in few words: `~` edited, `+` added, `-` deleted, `=` unchanged. */
const signs: Readonly<Record<DiffType, string>> = { Edited: '~', Added: '+', Deleted: '-', None: '=' };

function fieldText({ Type, Name, Old, New }: FieldDiff): string {
  return `${signs[Type]}${Name} ${Old}→${New}`;
}

function objectText({ Type, Name, Fields, Objects }: ObjectDiff): string {
  const inside = [...(Fields ?? []).map(fieldText), ...(Objects ?? []).map(objectText)];
  return `${signs[Type]}${Name}{${inside.join(', ')}}`;
}

const atJob = (found: JobDiff): string[] => [
  ...(found.Fields ?? []).map(fieldText),
  ...(found.Objects ?? []).map(objectText),
];
const atGroup = (found: JobDiff): string[] => {
  const group = found.TaskGroups?.[0];
  return [...(group?.Fields ?? []).map(fieldText), ...(group?.Objects ?? []).map(objectText)];
};
const atTask = (found: JobDiff): string[] => {
  const task = found.TaskGroups?.[0]?.Tasks?.[0];
  return [...(task?.Fields ?? []).map(fieldText), ...(task?.Objects ?? []).map(objectText)];
};

describe('a job as a whole', () => {
  test('nothing on both sides is no difference', () => {
    expect(diff(null, null)).toEqual({ Type: 'None', ID: '', Fields: null, Objects: null, TaskGroups: null });
  });

  test('a new job is added with all of its scalars but the empty ones', () => {
    const found = diff(null, job({ Meta: { team: 'ops' } }));
    expect(found).toMatchObject({
      Type: 'Added',
      ID: 'web',
      TaskGroups: [{ Type: 'Added', Tasks: [{ Type: 'Added' }] }],
    });
    expect(found.Fields?.map(fieldText)).toEqual([
      '+AllAtOnce →false',
      '+Dispatched →false',
      '+Meta[team] →ops',
      '+Name →web',
      '+Namespace →default',
      '+Priority →50',
      '+Region →global',
      '+Stop →false',
      '+Type →service',
    ]);
  });

  test('jobs with different IDs cannot be compared', () => {
    const found = diffJobs(stored({ ID: 'a' }), stored({ ID: 'b' }));
    expect(found._unsafeUnwrapErr().message).toBe('jobs with different IDs cannot be compared: "a" and "b"');
  });

  test('unchanged groups and tasks are listed by name, without anything inside', () => {
    const groups = ['b', 'a'].map((Name) => ({ Name, Tasks: [{ Name: 't' }] }));
    const found = diff(job({ TaskGroups: groups }), job({ TaskGroups: groups, Priority: 70 }));
    expect(found.TaskGroups?.map(({ Name, Type }) => `${Name} ${Type}`)).toEqual(['a None', 'b None']);
    expect(found).toMatchObject({
      Type: 'Edited',
      TaskGroups: [{ Fields: null, Objects: null, Tasks: [{ Type: 'None' }] }, {}],
    });
  });

  test.each<[string, JobInput, JobInput]>([
    ['spreads', job(), job({ Spreads: [{ Attribute: 'a' }] })],
    ['the tag of the version', job(), job({ VersionTag: { Name: 'v1' } })],
    ['the order of datacenters', job({ Datacenters: ['a', 'b'] }), job({ Datacenters: ['b', 'a', 'b'] })],
  ])('%s of a job are not compared', (_what, old, next) => {
    expect(diff(old, next).Type).toBe('None');
  });

  test.each<[string, JobInput, JobInput]>([
    ['spreads of a group', ofGroup({}), ofGroup({ Spreads: [{ Attribute: 'a' }] })],
    ['the longest run', ofGroup({}), ofGroup({ MaxRunDuration: 5 })],
    ['the lifecycle of a task', ofTask({}), ofTask({ Lifecycle: { Hook: 'poststart' } })],
    ['restarts of a task', ofTask({}), ofTask({ RestartPolicy: { Attempts: 9 } })],
  ])('%s make the group edited without showing why', (_what, old, next) => {
    const found = diff(old, next);
    expect(found).toMatchObject({ Type: 'Edited', TaskGroups: [{ Type: 'Edited', Fields: null, Objects: null }] });
    expect(atTask(found)).toEqual([]);
  });
});

describe('fields', () => {
  test.each<[string, JobInput, JobInput, string[]]>([
    ['changed', job({ Priority: 60 }), job({ Priority: 70 }), ['~Priority 60→70']],
    ['an entry added to a map', job(), job({ Meta: { 'a[b].c': 'x' } }), ['+Meta[a[b].c] →x']],
    ['an entry removed', job({ Meta: { a: 'x' } }), job(), ['-Meta[a] x→']],
    ['an entry emptied is removed', job({ Meta: { a: 'x' } }), job({ Meta: { a: '' } }), ['-Meta[a] x→']],
    ['an empty entry is no entry', job(), job({ Meta: { a: '' } }), []],
    ['false and zero are values', job({ Stop: true }), job({ Stop: false }), ['~Stop true→false']],
  ])('%s', (_what, old, next, expected) => {
    expect(atJob(diff(old, next))).toEqual(expected);
  });

  test('the delay before a stop of a group may come and go', () => {
    expect(atGroup(diff(ofGroup({}), ofGroup({ ShutdownDelay: 0 })))).toEqual(['+ShutdownDelay →0']);
    expect(atGroup(diff(ofGroup({ ShutdownDelay: 5 }), ofGroup({})))).toEqual(['-ShutdownDelay 5→']);
    expect(atGroup(diff(null, ofGroup({ ShutdownDelay: 5 })))).not.toContain('+ShutdownDelay →5');
  });

  test('fields of a job, group and task are never contextual', () => {
    const found = diff(ofTask({ User: 'a' }), ofTask({ User: 'b' }), true);
    expect(atTask(found)).toEqual(['~User a→b']);
  });
});

describe('objects', () => {
  const constraint = (RTarget: string) => ({ LTarget: 'a', Operand: '=', RTarget });

  test('a constraint that changes is deleted and added', () => {
    expect(atJob(diff(job({ Constraints: [constraint('x')] }), job({ Constraints: [constraint('y')] })))).toEqual([
      '+Constraint{+LTarget →a, +Operand →=, +RTarget →y}',
      '-Constraint{-LTarget a→, -Operand =→, -RTarget x→}',
    ]);
  });

  test('the order of constraints and a repeated one do not matter', () => {
    const old = job({ Constraints: [constraint('x'), constraint('y')] });
    expect(diff(old, job({ Constraints: [constraint('y'), constraint('x'), constraint('x')] })).Type).toBe('None');
  });

  test('a policy is what its fields are', () => {
    const found = diff(ofGroup({}), ofGroup({ RestartPolicy: { Attempts: 5 } }), true);
    expect(atGroup(found)).toEqual([
      '~RestartPolicy{~Attempts 2→5, =Delay 15000000000→15000000000, =Interval 1800000000000→1800000000000, =Mode fail→fail, =RenderTemplates false→false}',
    ]);
    expect(atGroup(diff(ofGroup({}), ofGroup({ RestartPolicy: { Attempts: 5 } })))).toEqual([
      '~RestartPolicy{~Attempts 2→5}',
    ]);
  });

  test('the strategy for lost nodes shows what may be absent', () => {
    expect(atGroup(diff(ofGroup({}), ofGroup({ Disconnect: { LostAfter: 7 } })))).toEqual([
      '+Disconnect{+LostAfter →7, +Reconcile →best_score, +Replace →true, +StopOnClientAfter →nil}',
    ]);
  });

  test('texts of a list are compared as a set under the name of the list', () => {
    const periodic = (Specs: string[]): JobInput => job({ Type: 'batch', Periodic: { Specs } });
    expect(atJob(diff(periodic(['a', 'b']), periodic(['b', 'c'])))).toEqual([
      '~Periodic{~Specs{+Specs →c, -Specs a→}}',
    ]);
  });

  test.each<[string, FreeForm | null, FreeForm | null, string[]]>([
    ['added', null, { image: 'a', args: ['x', ['y']] }, ['+Config{+args[0] →x, +args[1][0] →y, +image →a}']],
    ['emptied', { image: 'a' }, {}, ['-Config{-image a→}']],
    ['numbers as floats', { n: 1 }, { n: 12345678901234 }, ['~Config{~n 1→1.2345678901234e+13}']],
    ['null is a value', { n: 1 }, { n: null }, ['~Config{~n 1→nil}']],
    ['maps', { m: { a: true } }, { m: { a: false, b: { c: 0.5 } } }, ['~Config{~m[a] true→false, +m[b][c] →0.5}']],
  ])('the free-form configuration: %s', (_what, old, next, expected) => {
    expect(atTask(diff(ofTask({ Config: old }), ofTask({ Config: next })))).toEqual(expected);
  });

  test('networks are the same only as a whole; their ports stand inside', () => {
    const network = (Value: number): JobInput =>
      ofGroup({ Networks: [{ Mode: 'bridge', ReservedPorts: [{ Label: 'p', Value }], DNS: { Servers: ['a', 'b'] } }] });
    expect(atGroup(diff(network(1), network(2)))).toEqual([
      '+Network{+Mode →bridge, +Static Port{+HostNetwork →default, +IgnoreCollision →false, +Label →p, +To →0, +Value →2}, +DNS{+Servers →a,b}}',
      '-Network{-Mode bridge→, -Static Port{-HostNetwork default→, -IgnoreCollision false→, -Label p→, -To 0→, -Value 1→}, -DNS{-Servers a,b→}}',
    ]);
  });

  test('artifacts are known by their destination', () => {
    const artifact = (GetterSource: string): JobInput => ofTask({ Artifacts: [{ GetterSource, RelativeDest: 'd' }] });
    expect(atTask(diff(artifact('a'), artifact('b')))).toEqual(['~Artifact{~GetterSource a→b}']);
  });

  test('the waiting time of a template has the name of its parent', () => {
    const template = (Min: number | null): JobInput =>
      ofTask({ Templates: [{ EmbeddedTmpl: 'x', DestPath: 'd', Wait: { Min } }] });
    expect(atTask(diff(template(1), template(2)))).toEqual(['~Template{~Template{~Min 1→2}}']);
    expect(atTask(diff(template(null), template(2)))).toEqual(['~Template{~Template{~Min nil→2}}']);
  });
});

describe('which service became which', () => {
  type ServiceInput = NonNullable<NonNullable<GroupInput['Services']>[number]>;
  const services = (...list: ServiceInput[]): JobInput => ofGroup({ Services: list });
  const types = (old: JobInput, next: JobInput): string[] =>
    atGroup(diff(old, next)).map((text) => text.split('{')[0] ?? '');

  test.each<[string, JobInput, JobInput, string[]]>([
    ['one on both sides is the same', services({ Name: 'a' }), services({ Name: 'b', PortLabel: 'p' }), ['~Service']],
    [
      'moved ones did not change',
      services({ Name: 'a', PortLabel: 'p' }, { Name: 'b', PortLabel: 'q' }),
      services({ Name: 'b', PortLabel: 'q' }, { Name: 'a', PortLabel: 'p' }),
      [],
    ],
    [
      'renamed, with the same port at the same position',
      services({ Name: 'a', PortLabel: 'p' }, { Name: 'b', PortLabel: 'q' }),
      services({ Name: 'c', PortLabel: 'p' }, { Name: 'b', PortLabel: 'q' }),
      ['~Service'],
    ],
    [
      'renamed with another port',
      services({ Name: 'a', PortLabel: 'p' }, { Name: 'b', PortLabel: 'q' }),
      services({ Name: 'c', PortLabel: 'r' }, { Name: 'b', PortLabel: 'q' }),
      ['+Service', '-Service'],
    ],
  ])('%s', (_what, old, next, expected) => {
    expect(types(old, next)).toEqual(expected);
  });

  test('several templates are matched by their destination', () => {
    const templates = (...list: [string, string][]): JobInput =>
      ofTask({ Templates: list.map(([DestPath, EmbeddedTmpl]) => ({ DestPath, EmbeddedTmpl })) });
    const found = diff(templates(['a', '1'], ['b', '2']), templates(['b', '3'], ['c', '1']));
    expect(atTask(found).map((text) => text.split('{')[0])).toEqual(['~Template', '+Template', '-Template']);
  });
});

describe('properties', () => {
  const runs = { numRuns: 60 };

  test('a job does not differ from itself', () => {
    fc.assert(
      fc.property(jobInputs, fc.boolean(), (input, contextual) => {
        const same = diff(input, input, contextual);
        expect(same).toMatchObject({ Type: 'None', Fields: null, Objects: null });
        expect(same.TaskGroups?.every((group) => group.Type === 'None') ?? true).toBe(true);
      }),
      runs,
    );
  });

  test('a diff the other way round has the sides exchanged', () => {
    fc.assert(
      fc.property(jobInputs, jobInputs, (one, other) => {
        const there = diff({ ...one, ID: 'web' }, { ...other, ID: 'web' });
        const back = diff({ ...other, ID: 'web' }, { ...one, ID: 'web' });
        expect(mirrored(there)).toEqual(headsOf(back));
      }),
      runs,
    );
  });

  test('an added job mirrors a deleted one', () => {
    fc.assert(
      fc.property(jobInputs, (input) => {
        // A missing strategy over regions is compared as an empty one, only on the old side.
        const whole: JobInput = { ...input, Multiregion: null };
        expect(atJob(diff(whole, null)).map(turned)).toEqual(atJob(diff(null, whole)));
      }),
      runs,
    );
  });

  test('a contextual diff tells the same changes and more', () => {
    fc.assert(
      fc.property(jobInputs, jobInputs, (one, other) => {
        const sides = [
          { ...one, ID: 'web' },
          { ...other, ID: 'web' },
        ] as const;
        expect(headsOf(diff(...sides, true))).toEqual(headsOf(diff(...sides)));
      }),
      runs,
    );
  });

  const opposite: Readonly<Record<DiffType, DiffType>> = {
    Added: 'Deleted',
    Deleted: 'Added',
    Edited: 'Edited',
    None: 'None',
  };

  /** The types and fields of the job, its groups and its tasks. */
  function headsOf(found: JobDiff): string[] {
    const heads = [`job ${found.Type}`, ...(found.Fields ?? []).map(fieldText)];
    for (const group of found.TaskGroups ?? []) {
      heads.push(`group ${group.Name} ${group.Type}`, ...(group.Fields ?? []).map(fieldText));
      for (const task of group.Tasks ?? []) {
        heads.push(`task ${task.Name} ${task.Type}`, ...(task.Fields ?? []).map(fieldText));
      }
    }
    return heads;
  }

  function mirrored(found: JobDiff): string[] {
    const exchange = (fields: readonly FieldDiff[] | null): FieldDiff[] | null =>
      fields?.map((field) => ({ ...field, Type: opposite[field.Type], Old: field.New, New: field.Old })) ?? null;
    return headsOf({
      ...found,
      Type: opposite[found.Type],
      Fields: exchange(found.Fields),
      TaskGroups:
        found.TaskGroups?.map((group) => ({
          ...group,
          Type: opposite[group.Type],
          Fields: exchange(group.Fields),
          Tasks:
            group.Tasks?.map((task) => ({ ...task, Type: opposite[task.Type], Fields: exchange(task.Fields) })) ?? null,
        })) ?? null,
    });
  }

  /** The text of a deletion as that of an addition. */
  function turned(text: string): string {
    return text.replace(/-([\w[\]. -]+?) ([^→{}]*)→/g, '+$1 →$2').replace(/-(\w[\w ]*)\{/g, '+$1{');
  }
});
