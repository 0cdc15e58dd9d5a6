export { pointed } from './json.js';

import type { SchemaProblem } from './part.js';
import { readSchema } from './read-schema.js';
import { Run, type SchemaFault, top } from './run.js';

/** What of a schema, given as JSON text, is not a schema or cannot be enforced. Empty when values can be checked by all of it. */
export function schemaProblems(source: string): readonly SchemaProblem[] {
  try {
    return readSchema(source).problems;
  } catch (error) {
    if (error instanceof RangeError) return [{ pointer: '', message: 'is nested too deep' }];
    throw error;
  }
}

/**
 * Where a value, which must be JSON, does not fit a schema. What of the schema has problems is left out: it neither refuses a value nor
 * accepts one that other parts refuse. The work is bounded; a value that needs more is at fault.
 */
export function faultsBySchema(source: string, value: unknown): readonly SchemaFault[] {
  try {
    const run = new Run();
    run.judge(readSchema(source).root, value, top);
    return run.stopped === null ? run.faults : [{ path: [], message: run.stopped }];
  } catch (error) {
    if (error instanceof RangeError) return [{ path: [], message: 'is nested too deep' }];
    throw error;
  }
}
