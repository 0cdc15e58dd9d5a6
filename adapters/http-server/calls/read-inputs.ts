import { err, ok, type Result } from 'neverthrow';
import type { Call, Interface } from '../../../src/api/call.js';
import type { DocumentShape, Input, InputLocation } from '../../../src/api/inputs.js';
import { kindOf, membersIn, readMember } from '../../../src/api/json-codecs.js';
import type { TextCodec } from '../../../src/api/text-codecs.js';
import { isRecord } from '../../../src/shared/values.js';
import type { JobDialect } from '../dialect.js';
import { type BadInput, badInput } from '../errors/interface-errors.js';
import { isBelow } from '../http-message.js';
import {
  closedDocumentOf,
  type DocumentFault,
  type RequestDocument,
  readDocument,
  strayFaults,
} from '../notifications/request-document.js';
import { clientRoutes } from './client-routes.js';
import { badParameter, parseJsonBody, unreadBody } from './query-and-body.js';
import { createRouter, type Match, type Route, type RouteCall } from './router.js';

/** The interface that a path belongs to, and its match there. */
export interface Located {
  readonly interface: Interface;
  readonly match: Result<Match, BadInput>;
}

export type Locate = (method: string, path: string) => Located | undefined;

/** Where the interfaces are mounted. */
interface Mounts {
  readonly basePath: string;
  readonly notificationsPath: string;
  readonly dialect: JobDialect;
}

/** Finds the interface and route of a path; undefined for other paths. */
export function locator(routes: readonly Route[], { basePath, notificationsPath, dialect }: Mounts): Locate {
  const ofJobs = routes.filter((route) => route.interface !== 'notifications');
  const { anyMethod, notProvided, incompletePath } = dialect;
  const jobs = createRouter({
    routes: ofJobs.map((route) => (anyMethod.has(route.name) ? { ...route, anyMethod: true } : route)),
    known: notProvided.methods ? clientRoutes : clientRoutes.map(({ path }) => ({ path, methods: [] })),
    openPrefixes: ['/v1/job/', '/job/', '/v1/var/', '/v1/evaluation/'],
    widePrefixes: [
      ...['/v1/node/', '/v1/node/pool/', '/v1/deployment/', '/v1/namespace/', '/v1/scaling/policy/'],
      ...['/v1/acl/policy/', '/v1/acl/token/'],
    ],
    // A function whose own name begins with `run/` and ends like a run is named by an escaped slash.
    namePrefixes: [{ prefix: '/v1/function/run/', fits: (id) => /.\/\d{1,16}$/.test(id) }, { prefix: '/v1/function/' }],
  });
  const ofNotifications = routes.filter((route) => route.interface === 'notifications');
  const notifications = createRouter({ routes: ofNotifications, known: [], openPrefixes: [], widePrefixes: [] });
  const firstSegments = new Set(ofNotifications.map((route) => route.path.split('/', 2)[1]));

  return (method, fullPath) => {
    if (basePath !== '' && !isBelow(fullPath, basePath)) return undefined;
    const path = fullPath.slice(basePath.length);
    const match = jobs(method, path);
    if (match.isErr() || match.value.type !== 'unknown_path') return { interface: 'jobs', match };
    const isBelowMount = notificationsPath !== '' && isBelow(path, notificationsPath);
    const incomplete = isBelowMount ? undefined : incompletePath(method, path);
    if (incomplete !== undefined) return { interface: 'jobs', match: ok({ type: 'incomplete_path', ...incomplete }) };
    if (notificationsPath !== '' && !isBelowMount) return undefined;
    const rest = path.slice(notificationsPath.length);
    if (notificationsPath === '' && !firstSegments.has(rest.split('/', 2)[1])) return undefined;
    return { interface: 'notifications', match: notifications(method, rest) };
  };
}

/** The inputs of a call from a request, by their names. */
export interface ReadInputs {
  readonly input: Readonly<Record<string, unknown>>;
  /** Faults of the document outside its attributes; the operation reports them together with its own. */
  readonly faults: readonly DocumentFault[];
  /** The request document, for calls that have one. */
  readonly document?: RequestDocument;
}

/** The sources of input values besides the query. */
interface Sources {
  readonly call: RouteCall;
  /** The value of a path parameter; an empty string if there is none of that name. */
  readonly path: (name: string) => string;
  readonly body: Body;
}

type Body =
  | { readonly type: 'none' }
  | { readonly type: 'members'; readonly given: (name: string) => unknown }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'document'; readonly document: RequestDocument };

const noBody: Body = { type: 'none' };

const noMembers = {};

/** The message for a write without an ID. */
export const missingJob = 'missing job ID';

const noFaults: readonly DocumentFault[] = [];

/** Reads the inputs of requests for a call: path and query first, the body only if an input is in it. */
export function inputReader(
  definition: Call,
): (call: RouteCall) => Promise<Result<ReadInputs, BadInput>> | Result<ReadInputs, BadInput> {
  const inputs = Object.entries(definition.inputs);
  const pathNames = [...definition.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const bodyKind = bodyKindOf(definition);
  const closed = closedDocumentOf(definition);
  // Reads with an empty ID answer that it does not exist.
  const isRead = definition.kind === 'waiting' && !definition.path.startsWith('/v1/var/');
  const needsName = definition.interface === 'jobs' && !isRead;
  const missingName = definition.path.startsWith('/v1/var/') ? 'missing variable path' : missingJob;
  const pathOf =
    ({ pathValues }: RouteCall): Sources['path'] =>
    (name) =>
      pathValues[pathNames.indexOf(name)] ?? '';
  // Path and query are checked before a body is read; calls without body inputs never read one.
  const early = inputs.filter(([, input]) =>
    input.locations.every(({ in: location }) => location === 'path' || location === 'query' || location === 'queries'),
  );

  return (call) => {
    const path = pathOf(call);
    const first = readAll(early, { call, path, body: noBody });
    if (first.isErr()) return err(first.error);
    if (needsName && call.pathValues[0] === '') return err(badInput('absent', missingName));
    if (bodyKind === 'none') return ok({ input: first.value, faults: noFaults });
    return readBody(definition, call).then((read) =>
      read.andThen((body) => {
        const sources = { call, path, body };
        return repetitionsFit(inputs, sources)
          .andThen(() => readAll(inputs, sources))
          .map((input) => ({ input, ...documentIn(body, closed) }));
      }),
    );
  };
}

/** The kind of body that contains the inputs of a call. */
export function bodyKindOf(definition: Call): 'none' | 'members' | 'bytes' | 'document' {
  for (const input of Object.values(definition.inputs)) {
    if (input.repeated !== undefined) return 'members';
    for (const location of input.locations) {
      if (location.in === 'bytes' || location.in === 'document') return location.in;
      if (location.in === 'body' || location.in === 'members') return 'members';
    }
  }
  return 'none';
}

function readAll(
  inputs: readonly (readonly [string, Input<unknown>])[],
  sources: Sources,
): Result<Readonly<Record<string, unknown>>, BadInput> {
  const values: Record<string, unknown> = {};
  for (const [name, input] of inputs) {
    const value = readInput(name, input, sources);
    if (value.isErr()) return err(value.error);
    if (value.value !== undefined) values[name] = value.value;
    else if (Object.hasOwn(input, 'fallback')) values[name] = input.fallback;
  }
  return ok(values);
}

/** The value at the first location that has one. */
function readInput(name: string, input: Input<unknown>, sources: Sources): Result<unknown, BadInput> {
  for (const location of input.locations) {
    const value = readLocation(location, sources);
    if (value.isErr() || value.value !== undefined) return value;
  }
  const [location] = input.locations;
  if (!input.required || Object.hasOwn(input, 'fallback')) return ok(undefined);
  // An absent parameter is read as an empty string, which gives the parameter's own message.
  if (location.in === 'query') {
    const { codec, name: parameter } = location;
    return codec.parse('', parameter).mapErr((message) => badParameter(parameter, message));
  }
  const named = 'name' in location ? location.name : name;
  return err({ ...badInput('wrong_type', `"${named}" must be given`), pointer: '/' + named });
}

function readLocation(location: InputLocation, { call, path, body }: Sources): Result<unknown, BadInput> {
  switch (location.in) {
    case 'path':
      return location.codec
        .parse(path(location.name), location.name)
        .mapErr((message) => badParameter(location.name, message));
    case 'query':
      return readQuery(location, call);
    case 'queries':
      return call.query.all(location.name).map((texts) => (texts.length === 0 ? undefined : texts));
    case 'body':
      return body.type === 'members'
        ? readBodyMember(location.name, location.codec, body.given(location.name))
        : ok(undefined);
    case 'members':
      return body.type === 'members' ? readMembers(location, body.given) : ok(undefined);
    case 'bytes':
      return ok(body.type === 'bytes' ? body.bytes : undefined);
    case 'document':
      return ok(body.type === 'document' ? attributesOf(location, body.document) : undefined);
  }
}

/** The first present form counts. */
function readQuery(
  { name, aliases, codec }: Extract<InputLocation, { readonly in: 'query' }>,
  call: RouteCall,
): Result<unknown, BadInput> {
  if (call.query.isEmpty) return ok(undefined);
  for (const spelling of [name, ...aliases]) {
    const value = readParameter(call, spelling, codec);
    if (value.isErr() || value.value !== undefined) return value;
  }
  return ok(undefined);
}

function readBodyMember(
  name: string,
  codec: Extract<InputLocation, { readonly in: 'body' }>['codec'],
  given: unknown,
): Result<unknown, BadInput> {
  if (given === undefined || given === null) return ok(undefined);
  const read = readMember(name, codec, given);
  return 'message' in read ? err({ ...badInput('wrong_type', read.message), pointer: read.pointer }) : ok(read.value);
}

function readMembers(
  { members, join }: Extract<InputLocation, { readonly in: 'members' }>,
  given: (name: string) => unknown,
): Result<unknown, BadInput> {
  const found: Record<string, unknown> = {};
  for (const [own, { name, codec }] of Object.entries(members)) {
    const value = readBodyMember(name, codec, given(name));
    if (value.isErr()) return value;
    if (value.value !== undefined) found[own] = value.value;
  }
  return ok(join.read(found));
}

/** The attributes and relationships under the core's names. A relationship without data is left as it is. */
function attributesOf(
  { document: shape }: Extract<InputLocation, { readonly in: 'document' }>,
  { attributes, relationships }: RequestDocument,
): Readonly<Record<string, unknown>> {
  const names = Object.entries(shape.attributes);
  if (names.length === 0) return attributes;
  const own: Record<string, unknown> = {};
  for (const [name, attribute] of names) own[name] = attributes[attribute];
  for (const [name, relationship] of Object.entries(shape.relationships)) {
    const given = relationships[relationship.name];
    own[name] = isRecord(given) && !Object.hasOwn(given, 'data') ? undefined : given;
  }
  return own;
}

function documentIn(body: Body, closed: DocumentShape | undefined): Pick<ReadInputs, 'faults' | 'document'> {
  if (body.type !== 'document') return { faults: noFaults };
  const { document } = body;
  const faults = closed === undefined ? document.faults : [...document.faults, ...strayFaults(closed, document)];
  return { faults, document };
}

/** Clients repeat the path's value in the body; a different value is an error. */
function repetitionsFit(
  inputs: readonly (readonly [string, Input<unknown>])[],
  { path, body }: Sources,
): Result<void, BadInput> {
  for (const [, { repeated, locations }] of inputs) {
    if (repeated === undefined || body.type !== 'members') continue;
    const given = body.given(repeated.name);
    const absent = given === undefined || given === null || given === '';
    if (absent && repeated.required) {
      return err({ ...badInput('wrong_type', `"${repeated.name}" must be given`), pointer: '/' + repeated.name });
    }
    const [location] = locations;
    if (absent || (location.in === 'path' && given === path(location.name))) continue;
    return err(badInput('wrong_type', `the ${repeated.what} in the body differs from the one in the path`));
  }
  return ok(undefined);
}

async function readBody(definition: Call, call: RouteCall): Promise<Result<Body, BadInput>> {
  switch (bodyKindOf(definition)) {
    case 'none':
      return ok(noBody);
    case 'bytes':
      return (await bytesOf(call)).map((bytes): Body => ({ type: 'bytes', bytes }));
    case 'document':
      return (await readDocument(call, documentTypesOf(definition))).map(
        (document): Body => ({ type: 'document', document }),
      );
    case 'members':
      return membersOf(definition, call);
  }
}

async function membersOf(definition: Call, call: RouteCall): Promise<Result<Body, BadInput>> {
  const read = await call.readBody();
  if (read.type === 'absent' && mayLackBody(definition, call)) return ok(noBody);
  return parseJsonBody(read)
    .map((value) => (value === null && call.dialect.nullIsEmpty ? noMembers : value))
    .andThen(
      (value): Result<Body, BadInput> =>
        isRecord(value)
          ? ok({ type: 'members', given: membersIn(value) })
          : err({
              ...badInput('wrong_type', `the request body must be a JSON object, not ${kindOf(value)}`),
              pointer: '',
            }),
    );
}

function mayLackBody({ optionalBody }: Call, { query }: RouteCall): boolean {
  if (optionalBody === undefined || optionalBody === true) return optionalBody === true;
  return query.get(optionalBody.withParameter).unwrapOr(undefined) !== undefined;
}

async function bytesOf(call: RouteCall): Promise<Result<Uint8Array, BadInput>> {
  const body = await call.readBody();
  switch (body.type) {
    case 'absent':
      return ok(new Uint8Array());
    case 'bytes':
      return ok(body.bytes);
    case 'parsed':
      return err(badInput('malformed', 'a body parser has already read the body: mount the handler before the parser'));
    case 'too_large':
    case 'no_room':
    case 'aborted':
    case 'consumed':
      return err(unreadBody(body));
  }
}

function documentTypesOf(definition: Call): readonly [string, ...string[]] {
  for (const { locations } of Object.values(definition.inputs)) {
    for (const location of locations) if (location.in === 'document') return location.document.types;
  }
  return [''];
}

/** The value of a query parameter; undefined if absent. */
export function readParameter(
  { query, dialect }: RouteCall,
  name: string,
  codec: TextCodec<unknown>,
): Result<unknown, BadInput> {
  return query.get(name).andThen((text) => {
    if (text === undefined) return ok(undefined);
    const value = dialect.codecOf(codec).parse(text, name);
    if (value.isErr() && text === '' && dialect.emptyIsAbsent) return ok(undefined);
    return value.mapErr((message) => badParameter(name, message));
  });
}
