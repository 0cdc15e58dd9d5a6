import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import { jobJsonSchema } from '../../../src/jobs/document/job-json-schema.js';
import { jobInputs } from '../../support/job-inputs.js';

const { root, definitions } = jobJsonSchema('#/$defs/');
const validate = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true }).compile({
  ...root,
  $defs: definitions,
});

test('what the schema accepts, the decoder accepts, and what it answers fits the schema', () => {
  fc.assert(
    fc.property(jobInputs, (input) => {
      expect(validate(input)).toBe(true);
      expect(validate(decodeJob(input)._unsafeUnwrap())).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test.each([{ ID: 5 }, { Priority: 'high' }, { TaskGroups: {} }, { Affinities: [{ Weight: 300 }] }, { Meta: { a: 1 } }])(
  'both refuse %j',
  (input) => {
    expect(validate(input)).toBe(false);
    expect(decodeJob(input).isErr()).toBe(true);
  },
);

test('definitions are named after the blocks', () => {
  expect(root).toEqual({ $ref: '#/$defs/Job' });
  expect(Object.keys(definitions)).toEqual(expect.arrayContaining(['TaskGroup', 'Task', 'Service', 'Constraint']));
  expect(definitions['UpdateStrategy']?.properties?.['Stagger']).toEqual({
    type: ['integer', 'null'],
    description: 'Nanoseconds.',
  });
});
