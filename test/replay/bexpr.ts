import { type Filter, filterCompiler } from '../../src/filter/compile-filter.js';
import { jobSchema } from '../../src/jobs/record-schemas.js';
import { recordSchemas } from '../../src/scheduler/record-schemas.js';
import type { StructType } from '../../src/shared/schema.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface RecordSet {
  readonly id: string;
  readonly records: readonly { readonly ID: string }[];
}

interface BexprVector extends Vector {
  readonly set: string;
  readonly expression: string;
  readonly answer: {
    readonly match?: readonly string[];
    readonly stage?: 'parse' | 'evaluate';
    readonly error?: string;
    readonly at?: string;
    readonly match_before_error?: readonly string[];
  };
}

const schemas: Readonly<Record<string, StructType>> = {
  jobs: jobSchema,
  allocations: recordSchemas.allocation,
  evaluations: recordSchemas.evaluation,
  nodes: recordSchemas.node,
  deployments: recordSchemas.deployment,
};

/** Filters over five sets of records: what matches, or at which stage, record and column it ends. Words are our own. */
export const play: Play<BexprVector> = (vector, context) => {
  const sets = context.companion('bexpr-sets') as readonly RecordSet[];
  const set = sets.find(({ id }) => id === vector.set);
  const schema = schemas[vector.set];
  if (set === undefined || schema === undefined) return `there is no set ${vector.set}`;
  const { error, ...rest } = vector.answer;
  const [, column] = /^\d+:(\d+) /.exec(error ?? '') ?? [];
  const expected = vector.answer.stage === 'parse' ? { ...rest, column: Number(column) } : rest;
  return firstDifference(
    filterCompiler(schema)(vector.expression).match<unknown>(
      (filter) => matchesOf(filter, set.records),
      (problem) => ({ stage: 'parse', column: problem.column }),
    ),
    expected,
  );
};

function matchesOf(filter: Filter, records: RecordSet['records']): BexprVector['answer'] {
  const match: string[] = [];
  for (const record of records) {
    const result = filter.matches(record);
    if (result.isErr()) return { stage: 'evaluate', at: record.ID, match_before_error: match };
    if (result.value) match.push(record.ID);
  }
  return { match };
}
