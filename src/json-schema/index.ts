import { readSchema } from './read-schema.js';
import { Run, type SchemaFault, type SchemaProblem, top } from './run.js';

export { pointed } from './run.js';

/** Problems of a schema, given as JSON text: what is invalid or cannot be enforced. Empty when values can be checked by all of it. */
export function schemaProblems(source: string): readonly SchemaProblem[] {
  try {
    return readSchema(source).problems;
  } catch (error) {
    if (error instanceof RangeError) return [{ pointer: '', message: 'is nested too deeply' }];
    throw error;
  }
}

/**
 * Validates a value, which must be JSON, against a schema. Parts of the schema with problems are left out: they neither reject a value nor
 * accept one that other parts reject. The work is bounded; a value that exceeds the limit is a fault.
 */
export function faultsBySchema(source: string, value: unknown): readonly SchemaFault[] {
  try {
    const run = new Run();
    run.check(readSchema(source).root, value, top);
    return run.stopped === null ? run.faults : [{ path: [], message: run.stopped }];
  } catch (error) {
    if (error instanceof RangeError) return [{ path: [], message: 'is nested too deeply' }];
    throw error;
  }
}
