import fc from 'fast-check';
import { type Block, type Field, type FieldSet, submittedFields } from '../../src/jobs/document/field-table.js';
import { jobBlock } from '../../src/jobs/document/job.js';
import type { JobInput } from '../../src/jobs/document/submitted-job.js';

const words = fc.constantFrom(
  '',
  'a',
  'b-c',
  'default',
  'consul',
  'nomad',
  'host',
  'service',
  'batch',
  'system',
  'signal',
);

/** Submitted jobs of every shape that the field table allows; most would not pass validation. */
export const jobInputs: fc.Arbitrary<JobInput> = blockInputs(jobBlock) as fc.Arbitrary<JobInput>;

function blockInputs(block: Block<FieldSet>): fc.Arbitrary<object> {
  const fields = submittedFields(block).map(([name, field]) => [name, fieldInputs(field)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}

function fieldInputs(field: Field<unknown, unknown>): fc.Arbitrary<unknown> {
  return fc.option(valueInputs(field), { freq: 2 });
}

function valueInputs(field: Field<unknown, unknown>): fc.Arbitrary<unknown> {
  const nested = (): fc.Arbitrary<object> => blockInputs(field.block as Block<FieldSet>);
  switch (field.kind) {
    case 'string':
      return words;
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'duration':
      return fc.integer({ min: Math.max(field.bounds?.min ?? 0, -3), max: 100 });
    case 'base64':
      return fc.constantFrom('', 'aGk=');
    case 'strings':
      return fc.array(words, { maxLength: 2 });
    case 'integers':
      return fc.array(fc.nat({ max: 9 }), { maxLength: 2 });
    case 'string_map':
      return fc.dictionary(words, words, { maxKeys: 2 });
    case 'string_list_map':
      return fc.dictionary(words, fc.array(words, { maxLength: 2 }), { maxKeys: 2 });
    case 'free_form':
      return fc.dictionary(words, fc.constantFrom(1, 'x', null, [1], { y: [{}] }), { maxKeys: 2 });
    case 'block':
      return nested();
    case 'blocks':
      return fc.array(nested(), { maxLength: 2 });
    case 'block_map':
      return fc.dictionary(words, nested(), { maxKeys: 2 });
  }
}
