import { faultsBySchema, pointed, schemaProblems } from '../../json-schema/index.js';
import type { FieldFault } from '../errors.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** The faults of a JSON Schema, with pointers that begin at `root`; empty when all of it can be enforced. */
export function schemaFaults(schema: JsonSchema, longest: number, root: string): readonly FieldFault[] {
  const whole = (message: string): readonly FieldFault[] => [{ pointer: root, message: `schema ${message}` }];
  if (typeof schema !== 'object' || Array.isArray(schema)) return whole('must be a JSON Schema, an object');
  const source = jsonOf(schema);
  if (source === null) return whole('must be a JSON Schema without cycles or very deep nesting');
  if (source.length > longest) return whole(`must have at most ${longest} characters as JSON`);
  return schemaProblems(source).map(({ pointer, message }) => ({
    pointer: `${root}${pointer}`,
    message: `schema${pointer === '' ? '' : ` at ${pointer}`}: ${message}`,
  }));
}

/** The JSON text of a caller's value; null for cyclic or too deeply nested values, and for bigints. */
export function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

/**
 * The faults of data against a schema, with pointers that begin at `root`. A null schema accepts everything. The data are checked as the
 * JSON that is sent: a date is a string, an undefined member is absent.
 */
export function dataFaults(schema: JsonSchema | null, data: unknown, root: string): readonly FieldFault[] {
  if (schema === null) return [];
  const json = jsonOf(data);
  if (json === null) return [{ pointer: root, message: 'data: must be JSON without cycles or very deep nesting' }];
  return faultsBySchema(JSON.stringify(schema), JSON.parse(json)).map(({ path, message }) => ({
    pointer: [root, ...path.map(pointed)].join('/'),
    message: `${path.length === 0 ? 'data' : path.join('.')}: ${message}`,
  }));
}
