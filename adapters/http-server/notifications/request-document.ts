import { err, ok, type Result } from 'neverthrow';
import type { Call } from '../../../src/api/call.js';
import type { DocumentShape } from '../../../src/api/inputs.js';
import { suggestName } from '../../../src/hcl/index.js';
import { isRecord, quoted } from '../../../src/shared/values.js';
import { parseJsonBody } from '../calls/query-and-body.js';
import type { RouteCall } from '../calls/router.js';
import { type BadInput, badInput } from '../errors/interface-errors.js';
import { headerValue } from '../http-message.js';

/** Faults of the document outside the attributes; operations report them together with their own. */
export interface DocumentFault {
  readonly pointer: string;
  readonly message: string;
}

/** A JSON:API request document, as far as it could be parsed. */
export interface RequestDocument {
  readonly id: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly relationships: Readonly<Record<string, unknown>>;
  readonly faults: readonly DocumentFault[];
}

/**
 * Reads the request's document. Only an excessive size, an unsupported media type and an early end are errors here; other faults are
 * collected, because a missing resource takes precedence.
 */
export async function readDocument(
  call: RouteCall,
  types: readonly [string, ...string[]],
): Promise<Result<RequestDocument, BadInput>> {
  const body = await call.readBody();
  if (body.type !== 'absent' && !isJsonType(headerValue(call.request, 'content-type'))) {
    return err(badInput('unsupported', 'the body must be application/vnd.api+json or application/json'));
  }
  const parsed = parseJsonBody(body);
  if (parsed.isOk()) return ok(documentFrom(parsed.value, types));
  const { reason, message } = parsed.error;
  if (reason === 'too_large' || reason === 'aborted' || reason === 'no_room') return err(parsed.error);
  return ok({ ...nothing, faults: [{ pointer: '', message }] });
}

const nothing: RequestDocument = { id: undefined, attributes: {}, relationships: {}, faults: [] };

function documentFrom(value: unknown, types: readonly [string, ...string[]]): RequestDocument {
  const data = isRecord(value) ? value['data'] : undefined;
  if (!isRecord(data)) {
    return { ...nothing, faults: [{ pointer: '/data', message: 'The document must have an object under data' }] };
  }
  const faults: DocumentFault[] = [];
  const { type, id } = data;
  if (typeof type !== 'string' || !types.includes(type)) {
    const given = typeof type === 'string' ? `, not ${quoted(type)}` : '';
    faults.push({ pointer: '/data/type', message: `The type must be ${types[0]}${given}` });
  }
  if (id !== undefined && id !== null && typeof id !== 'string') {
    faults.push({ pointer: '/data/id', message: 'The id must be a string' });
  }
  return {
    id: typeof id === 'string' ? id : undefined,
    attributes: membersOf(data, 'attributes', faults),
    relationships: membersOf(data, 'relationships', faults),
    faults,
  };
}

/** The members of an object member; none if it is absent or null. */
function membersOf(
  data: Readonly<Record<string, unknown>>,
  name: string,
  faults: DocumentFault[],
): Readonly<Record<string, unknown>> {
  const value = data[name];
  if (value === undefined || value === null) return {};
  if (isRecord(value)) return value;
  faults.push({ pointer: '/data/' + name, message: `The ${name} must be an object` });
  return {};
}

/** A body without a content type is read as JSON. */
function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === '') return true;
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase();
  return type === 'application/vnd.api+json' || type === 'application/json';
}

/** The request document of a call that refuses unknown members. */
export function closedDocumentOf(definition: Call): DocumentShape | undefined {
  for (const { locations } of Object.values(definition.inputs)) {
    for (const location of locations) {
      if (location.in === 'document' && location.document.closed === true) return location.document;
    }
  }
  return undefined;
}

/** Faults for attributes and relationships that the shape does not have. */
export function strayFaults(shape: DocumentShape, document: RequestDocument): readonly DocumentFault[] {
  const related = Object.values(shape.relationships).map(({ name }) => name);
  return [
    ...strayMembers('attributes', document.attributes, Object.values(shape.attributes)),
    ...strayMembers('relationships', document.relationships, related),
  ];
}

function strayMembers(
  part: 'attributes' | 'relationships',
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): readonly DocumentFault[] {
  const stray = Object.keys(given).filter((name) => !known.includes(name));
  return stray.map((name) => {
    const near = suggestName(name, known);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    const pointer = `/data/${part}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return { pointer, message: `There is no ${part.slice(0, -1)} ${quoted(name)} here${hint}` };
  });
}
