import { err, ok, type Result } from 'neverthrow';
import { faultsBySchema, pointed, schemaProblems } from '../../json-schema/index.js';
import { type Instant, instantFromRfc3339 } from '../../shared/instant.js';
import type { FieldFault, InvalidAttributes } from '../errors.js';
import type { CustomEvent } from './event.js';
import { customEventAttributes, type EventType, type EventTypeInput, servicePrefix } from './event-type.js';
import { triggerFromSpelling } from './trigger.js';

/** Bounds, in characters of JSON text. */
const eventTypeLimits = { name: 128, description: 4096, schema: 65_536, data: 262_144, message: 4096 } as const;

const namePattern = /^[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*$/;

/** The invalid and unenforceable parts of the schema. They are refused; a type stored earlier continues to work without them. */
export function problemsOfSchema({ schema }: Pick<EventType, 'schema'>): readonly FieldFault[] {
  return schema === null ? [] : schemaFaults(schema, eventTypeLimits.schema, '/data/attributes/schema');
}

/** The example is checked only if the schema is valid or absent. */
function schemaAndExampleFaults(schema: EventType['schema'], example: EventType['example']): readonly FieldFault[] {
  const problems = problemsOfSchema({ schema });
  if (problems.length > 0 || example === null) return problems;
  if (jsonOf(example) !== null) return dataFaults(schema, example, '/data/attributes/example');
  return [{ pointer: '/data/attributes/example', message: 'example must be JSON without cycles or very deep nesting' }];
}

function isShortText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length <= most;
}

function nameProblem(name: unknown): string | null {
  if (typeof name !== 'string' || !namePattern.test(name) || name.length > eventTypeLimits.name) {
    return 'must be words of letters, digits and _, joined by dots, such as order.created';
  }
  return name.startsWith(servicePrefix) || triggerFromSpelling(name) !== undefined ? 'is reserved for Signalbox' : null;
}

/** The type to store, based on the existing one. All faults are reported. */
export function decideEventType(
  input: EventTypeInput,
  present: EventType | undefined,
  now: Instant,
): Result<EventType, InvalidAttributes> {
  const faults: FieldFault[] = [];
  const refuse = (member: string, message: string): void =>
    void faults.push({ pointer: `/data/attributes/${member}`, message: `${member} ${message}` });
  const { name, description = '', schema = null, example = null, body = 'envelope' } = input;
  const misnamed = nameProblem(name);
  if (misnamed !== null) refuse('name', misnamed);
  if (!isShortText(description, eventTypeLimits.description)) {
    refuse('description', `must be a string of at most ${eventTypeLimits.description} characters`);
  }
  if (body !== 'envelope' && body !== 'data') refuse('body', 'must be envelope or data');
  faults.push(...schemaAndExampleFaults(schema, example));
  if (faults.length > 0) return err({ type: 'invalid_attributes', faults });
  return ok({ name, description, schema, example, body, createdAt: present?.createdAt ?? now, updatedAt: now });
}

/** Payload members outside of `data` are refused, because they would be lost. */
function strayFaults(attributes: Readonly<Record<string, unknown>>): readonly FieldFault[] {
  const stray = Object.keys(attributes).filter(
    (name) => !customEventAttributes.includes(name) && attributes[name] !== undefined,
  );
  return stray.map((name) => ({
    pointer: `/data/attributes/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    message: `unknown attribute ${JSON.stringify(name)}; allowed: ${customEventAttributes.join(', ')}. Put the payload in "data"`,
  }));
}

function dataProblem(data: unknown): string | null {
  if (typeof data !== 'object' || Array.isArray(data)) return 'must be an object';
  const text = jsonOf(data);
  if (text === null) return 'must be JSON without cycles or very deep nesting';
  return text.length > eventTypeLimits.data ? `must have at most ${eventTypeLimits.data} characters as JSON` : null;
}

/** An event of a registered type from its attributes: `message`, `data`, `order_key`, `occurred_at`. */
export function customEvent(
  type: EventType,
  attributes: Readonly<Record<string, unknown>>,
  now: string,
): Result<CustomEvent, InvalidAttributes> {
  const faults: FieldFault[] = [...strayFaults(attributes)];
  const refuse = (member: string, message: string): void =>
    void faults.push({ pointer: `/data/attributes/${member}`, message: `${member} ${message}` });
  const text = (member: string, longest: number): string | null => {
    const value = attributes[member] ?? null;
    if (value === null || (typeof value === 'string' && value.length <= longest)) return value;
    refuse(member, `must be a string of at most ${longest} characters`);
    return null;
  };
  const message = text('message', eventTypeLimits.message);
  const orderKey = text('order_key', 256);
  const occurredAt = text('occurred_at', 64);
  if (occurredAt !== null && instantFromRfc3339(occurredAt) === undefined) {
    refuse('occurred_at', 'must be a time such as 2026-01-02T03:04:05.000Z');
  }
  const data = attributes['data'] ?? {};
  const problem = dataProblem(data);
  if (problem !== null) refuse('data', problem);
  else faults.push(...dataFaults(type.schema, data, '/data/attributes/data'));
  if (faults.length > 0) return err({ type: 'invalid_attributes', faults });
  return ok({
    kind: 'custom',
    trigger: type.name,
    message: message ?? type.name,
    data: data as CustomEvent['data'],
    orderKey,
    occurredAt: occurredAt ?? now,
    body: type.body,
  });
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** The faults of a JSON Schema, with pointers that begin at `root`; empty when all of it can be enforced. */
function schemaFaults(schema: JsonSchema, longest: number, root: string): readonly FieldFault[] {
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
function jsonOf(value: unknown): string | null {
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
