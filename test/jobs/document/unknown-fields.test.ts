import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unknownFields } from '../../../src/jobs/document/unknown-fields.js';
import { jobInputs } from '../../support/job-inputs.js';

const messages = (input: unknown) => unknownFields(input).map(({ message }) => message);

describe('unknownFields', () => {
  test.each<[object, string]>([
    [{ Prioriti: 5 }, 'Job.Prioriti is not a field of a job and has no effect; did you mean Priority?'],
    [
      { TaskGroups: [{}, { Contraints: [] }] },
      'Job.TaskGroups[1].Contraints is not a field of a job and has no effect; did you mean Constraints?',
    ],
    [
      { TaskGroups: [{ Tasks: [{ Resources: { Memory: 5 } }] }] },
      'Job.TaskGroups[0].Tasks[0].Resources.Memory is not a field of a job and has no effect; did you mean MemoryMB?',
    ],
    [
      { TaskGroups: [{ Volumes: { data: { Sourze: 'x' } } }] },
      'Job.TaskGroups[0].Volumes["data"].Sourze is not a field of a job and has no effect; did you mean Source?',
    ],
    [{ entirely_different: 1 }, 'Job.entirely_different is not a field of a job and has no effect'],
    [{ 'a b': 1 }, 'Job["a b"] is not a field of a job and has no effect'],
  ])('%j', (input, message) => {
    expect(messages(input)).toEqual([message]);
  });

  test('case does not matter, and free-form blocks have any keys', () => {
    const input = {
      priority: 5,
      META: { any: 'x' },
      TaskGroups: [{ tasks: [{ Config: { anything: 1 }, Env: { X: 'y' } }] }],
    };
    expect(messages(input)).toEqual([]);
  });

  test('only the first twenty are told', () => {
    expect(messages(Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`x${at}`, 1])))).toHaveLength(20);
  });

  test('nothing is unknown in what the table describes', () => {
    fc.assert(
      fc.property(jobInputs, (input) => {
        expect(messages(input)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('never throws, whatever the value', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        unknownFields(value);
        unknownFields({ TaskGroups: value });
      }),
    );
  });
});
