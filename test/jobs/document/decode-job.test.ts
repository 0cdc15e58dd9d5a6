import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';

function decoded(input: unknown) {
  return decodeJob(input)._unsafeUnwrap();
}

function failure(input: unknown) {
  return decodeJob(input)._unsafeUnwrapErr();
}

describe('decodeJob', () => {
  test('gives every field of the table, null where nothing was given', () => {
    const job = decoded({ ID: 'a' });
    expect(job).toMatchObject({
      ID: 'a',
      Name: null,
      TaskGroups: null,
      Dispatched: false,
      Priority: null,
      Update: null,
    });
  });

  test('matches keys without regard to case, the last one winning, and ignores unknown keys', () => {
    const job = decoded({ id: 'a', taskgroups: [{ NAME: 'g', Colour: 'red' }], Name: 'x', name: 'y' });
    expect(job.ID).toBe('a');
    expect(job.TaskGroups?.[0]?.Name).toBe('g');
    expect(job.TaskGroups?.[0]).not.toHaveProperty('Colour');
    expect(job.Name).toBe('y');
  });

  test('reads null as not given, also for plain fields and inside lists', () => {
    const job = decoded({ ID: null, Dispatched: null, Datacenters: ['a', null], TaskGroups: [null] });
    expect(job.ID).toBeNull();
    expect(job.Dispatched).toBe(false);
    expect(job.Datacenters).toEqual(['a', '']);
    expect(job.TaskGroups?.[0]?.Name).toBe('');
  });

  test('the CSI plugin of a task is left out when it is not given', () => {
    const task = decoded({ TaskGroups: [{ Tasks: [{ Name: 't' }] }] }).TaskGroups?.[0]?.Tasks?.[0];
    expect(task).not.toHaveProperty('CSIPluginConfig');
    expect(
      decoded({ TaskGroups: [{ Tasks: [{ CSIPluginConfig: null }] }] }).TaskGroups?.[0]?.Tasks?.[0],
    ).not.toHaveProperty('CSIPluginConfig');
  });

  test.each([
    [[], 'Job', 'an object', 'a list'],
    ['x', 'Job', 'an object', 'a string'],
    [{ ID: 5 }, 'Job.ID', 'a string', 'the number 5'],
    [{ Priority: '50' }, 'Job.Priority', 'a whole number', 'a string'],
    [{ Priority: 1.5 }, 'Job.Priority', 'a whole number', 'the number 1.5'],
    [{ AllAtOnce: 'yes' }, 'Job.AllAtOnce', 'true or false', 'a string'],
    [{ TaskGroups: {} }, 'Job.TaskGroups', 'a list', 'an object'],
    [{ TaskGroups: [{}, { Count: true }] }, 'Job.TaskGroups[1].Count', 'a whole number', 'true'],
    [{ Update: { Stagger: '30s' } }, 'Job.Update.Stagger', 'whole nanoseconds (a number)', 'a string'],
    [{ Meta: { 'a b': 1 } }, 'Job.Meta["a b"]', 'a string', 'the number 1'],
    [
      { Affinities: [{ Weight: 300 }] },
      'Job.Affinities[0].Weight',
      'a whole number from -128 to 127',
      'the number 300',
    ],
    [{ Payload: 'a' }, 'Job.Payload', 'padded standard base64 text', 'a string'],
    [JSON.parse('{"Meta":{"__proto__":"x"}}'), 'Job.Meta', 'a key other than __proto__', 'a string'],
  ])('%j is refused at %s', (input, path, expected, got) => {
    expect(failure(input)).toMatchObject({ type: 'invalid_document', path, expected, got });
  });

  test('line ends in a payload, as programs print base64, are left out', () => {
    expect(decoded({ Payload: 'cGF5\r\nbG9h\nZA==\n' }).Payload).toBe('cGF5bG9hZA==');
  });

  test('a block key that names the prototype does nothing', () => {
    const job = decoded(JSON.parse('{"__proto__":{"ID":"evil"},"constructor":{},"ID":"a"}'));
    expect(job.ID).toBe('a');
    expect(Object.getPrototypeOf(job)).toBe(Object.prototype);
  });

  test('free-form values are bounded in depth, the document in values', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 200; level++) deep = [deep];
    const config = (value: unknown) => ({ TaskGroups: [{ Tasks: [{ Config: { value } }] }] });
    expect(failure(config(deep)).expected).toBe('nesting of at most 100');
    expect(failure(config(new Array(600_000).fill(0))).expected).toContain('50000 values');
  });

  test('the document is bounded in blocks and groups', () => {
    const groups = (count: number) => ({ TaskGroups: new Array(count).fill({}) });
    expect(decoded(groups(1_000)).TaskGroups).toHaveLength(1_000);
    expect(failure(groups(1_001))).toMatchObject({ path: 'Job.TaskGroups', expected: 'at most 1000 task groups' });
    expect(failure({ TaskGroups: [{ Tasks: new Array(10_000).fill({}) }] })).toMatchObject({
      path: 'Job.TaskGroups[0].Tasks',
      expected: 'at most 10000 blocks in the document',
    });
    const volumes = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [at, {}]));
    expect(failure({ TaskGroups: [{ Volumes: volumes }] }).expected).toBe('at most 10000 blocks in the document');
  });

  test('the answer shares nothing with the input', () => {
    const list: unknown[] = [1, { b: 2 }];
    const input = { TaskGroups: [{ Tasks: [{ Config: { a: list } }] }] };
    const job = decoded(input);
    list.push(3);
    expect(job.TaskGroups?.[0]?.Tasks?.[0]?.Config).toEqual({ a: [1, { b: 2 }] });
  });

  test('never throws and names a position, whatever the JSON', () => {
    const key = fc.constantFrom(
      'ID',
      'TaskGroups',
      'tasks',
      'Tasks',
      'Config',
      'Meta',
      'Update',
      'Count',
      '__proto__',
      'x',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue(),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (input) => {
        const result = decodeJob(input);
        return result.isOk() || result.error.path.startsWith('Job');
      }),
    );
  });

  test('what it answers decodes to itself', () => {
    const job = decoded({
      ID: 'a',
      TaskGroups: [{ Name: 'g', Volumes: { v: { Type: 'host' } }, Tasks: [{ Env: { A: 'b' } }] }],
    });
    expect(decoded(JSON.parse(JSON.stringify(job)))).toEqual(job);
  });
});
