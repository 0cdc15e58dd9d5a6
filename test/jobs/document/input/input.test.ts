import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type Block, type FieldSet, submittedFields } from '../../../../src/jobs/document/field-table.js';
import { jobBlock } from '../../../../src/jobs/document/job.js';
import type { JobInput, TaskInput } from '../../../../src/jobs/document/job-input.js';
import { scalingBlock } from '../../../../src/jobs/document/policies.js';
import { blockTexts, fieldText } from '../../../../src/jobs/specification/field-texts.js';
import { blockText, renderJobInputTypes } from '../../../../src/jobs/specification/render-job-input.js';

describe('the types are those of the tables; npx tsx tools/job-input.ts writes them', () => {
  const rendered = renderJobInputTypes();

  test('every type', () => {
    const file = 'src/jobs/document/job-input.ts';
    const formatted = execFileSync('node_modules/.bin/biome', ['check', '--write', `--stdin-file-path=${file}`], {
      input: rendered,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    expect(readFileSync(file, 'utf8')).toBe(formatted);
  });

  test('a name that is made of those of the job, group and task has no default', () => {
    expect(rendered).not.toMatch(/Default: `-*`/);
  });
});

function allBlocks(block: Block<FieldSet>, found = new Set<Block<FieldSet>>()): Set<Block<FieldSet>> {
  if (found.has(block)) return found;
  found.add(block);
  for (const [, field] of submittedFields(block)) if (field.block !== undefined) allBlocks(field.block, found);
  return found;
}

describe('the texts of the blocks and fields', () => {
  const blocks = [...allBlocks(jobBlock)];

  test.each(blocks.map((block) => [block.name, block] as const))('%s: every field has one', (_name, block) => {
    for (const [name] of submittedFields(block)) expect(fieldText(block, name)).toMatch(/^[A-Z0-9`<].*\.$/s);
  });

  test.each(blocks.map((block) => [block.name, block] as const))('%s itself has one', (_name, block) => {
    expect(blockText(block)).toMatch(/^[A-Z].*\.$/s);
  });

  test('a block that means several things is described in each of its places', () => {
    expect(blockText(scalingBlock)).toBe(
      'In `task`: Bounds for one resource of the task (`cpu` or `mem`), and a policy for an autoscaler. ' +
        "In `group`: Bounds for the group's count, and a policy for an autoscaler. " +
        'The block `scaling` of a job specification.',
    );
  });

  test('there are none of blocks that do not exist', () => {
    expect(new Set(blockTexts.map(({ block }) => block))).toEqual(new Set(blocks));
  });
});

describe('what the types allow', () => {
  test('durations as texts and as nanoseconds', () => {
    expectTypeOf<'30s'>().toExtend<NonNullable<TaskInput['KillTimeout']>>();
    expectTypeOf<'1h30m'>().toExtend<NonNullable<TaskInput['KillTimeout']>>();
    expectTypeOf<30_000_000_000>().toExtend<NonNullable<TaskInput['KillTimeout']>>();
    expectTypeOf<'30 seconds'>().not.toExtend<NonNullable<TaskInput['KillTimeout']>>();
  });

  test('only the values that validation accepts', () => {
    expectTypeOf<JobInput['Type']>().toEqualTypeOf<'service' | 'batch' | 'system' | 'sysbatch' | null | undefined>();
  });
});
