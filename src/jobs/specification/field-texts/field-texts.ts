import type { Block, Field, FieldSet } from '../../document/field-table.js';

/** What the fields of a block mean, with their units and the values that they take: one or two sentences each. */
export interface BlockTexts {
  readonly block: Block<FieldSet>;
  readonly fields: Readonly<Record<string, string>>;
}

/** The fields that a submission may have. */
type SubmittedNames<F extends FieldSet> = {
  [K in keyof F]: F[K] extends Field<infer A, infer _S> ? ([A] extends [never] ? never : K) : never;
}[keyof F];

/** The strings of one block. A field without a string, or a string without a field, is a compile error. */
export function textsOf<F extends FieldSet>(block: Block<F>, fields: Record<SubmittedNames<F>, string>): BlockTexts {
  return { block, fields };
}
