import { err, ok, type Result } from 'neverthrow';
import { everybody, onWorkspace } from '../../../src/api/access.js';
import { type CallInput, plainType } from '../../../src/api/answers.js';
import { type Call, framingOf, waitingInputs, waitingInputsOf } from '../../../src/api/call.js';
import { attachmentOf, isDownload } from '../../../src/api/download.js';
import { callsOf, type NamedCall } from '../../../src/api/index.js';
import type { Inputs } from '../../../src/api/inputs.js';
import { socketRefusal } from '../../../src/api/message-socket.js';
import { integer, pageToken } from '../../../src/api/text-codecs.js';
import type { Waiting } from '../../../src/index.js';
import { isRecord } from '../../../src/shared/values.js';
import { type BadInput, badInput, type RefusingCall } from '../errors/interface-errors.js';
import { errorResponse } from '../errors/notification-errors.js';
import { type HttpResponse, jsonResponse, jsonType, placeOf, textType } from '../http-message.js';
import { closedDocumentOf, type RequestDocument } from '../notifications/request-document.js';
import { resourceResponse } from '../notifications/resource-documents.js';
import { inputReader, type ReadInputs, readParameter } from './read-inputs.js';
import type { Route, RouteCall } from './router.js';

/** Additional checks before the operation is called. */
const checks: Readonly<Record<string, InputCheck>> = {
  'notifications.create': checkWorkspace,
  'notifications.update': checkConfiguration,
};

const printed = new Map<string, string>();

/** The OpenAPI document, loaded with the first request, and serialized once per path of the notification interface and dialect. */
const openApiRoute: Route = {
  name: 'openApi',
  interface: 'system',
  methods: ['GET'],
  path: '/v1/openapi.json',
  access: everybody,
  handle: async ({ notificationsPath, dialect }) => {
    const { openApiDocument } = await import('../open-api/open-api.js');
    const key = `${dialect.names} ${notificationsPath}`;
    const body = printed.get(key) ?? JSON.stringify(openApiDocument(notificationsPath, dialect));
    printed.set(key, body);
    return jsonResponse(200, body);
  },
};

/** Every route of both interfaces. */
export const routeTable: readonly Route[] = [
  ...callsOf().map((named) => callRoute(named, checks[named.name])),
  openApiRoute,
];

/**
 * The target of links in messages for a workspace without its own page (`workspaceUrl`): redirects to the workspace's document.
 * The redirect depends only on the path, so it does not reveal whether the workspace exists; reading the document requires a right.
 */
export const workspacePageRoute: Route = {
  name: 'workspacePage',
  interface: 'system',
  methods: ['GET'],
  path: '/app/{organization}/workspaces/{name}',
  access: everybody,
  handle: ({ pathValues, notificationsPath }) => {
    const [organization = '', name = ''] = pathValues.map(encodeURIComponent);
    const location = `${notificationsPath}/organizations/${organization}/workspaces/${name}`;
    return Promise.resolve({ status: 302, headers: ['Location', location], body: '' });
  },
};

/* A document may only name the resource of the path. A missing resource is reported first. */

/** Clients repeat the workspace of the path in the document. */
async function checkWorkspace(call: RouteCall, { input, document }: ReadInputs): ReturnType<InputCheck> {
  const workspaceId = String(input['workspaceId']);
  if (document === undefined || !namesOtherWorkspace(document, workspaceId)) return undefined;
  const known = await perform(call, 'list', { workspaceId });
  return known.isErr()
    ? call.errors.callError(known.error, checked('notifications.create'))
    : otherResource(call, '/data/relationships/subscribable');
}

/** Clients repeat the id of the path in the document. */
async function checkConfiguration(call: RouteCall, { input, document }: ReadInputs): ReturnType<InputCheck> {
  const configurationId = String(input['configurationId']);
  if (document?.id === undefined || document.id === configurationId) return undefined;
  const known = await perform(call, 'show', { configurationId });
  return known.isErr()
    ? call.errors.callError(known.error, checked('notifications.update'))
    : otherResource(call, '/data/id');
}

const manner = { waiting: {}, faults: [], signal: new AbortController().signal };

function perform({ engine, caller }: RouteCall, method: 'list' | 'show', input: Readonly<Record<string, string>>) {
  return engine.perform({ area: 'notifications', method }, caller, input, manner);
}

function checked(name: string): RefusingCall {
  return { name, access: onWorkspace('portal'), where: '' };
}

function namesOtherWorkspace(document: RequestDocument, workspaceId: string): boolean {
  const subscribable = document.relationships['subscribable'];
  const data = isRecord(subscribable) ? subscribable['data'] : undefined;
  return isRecord(data) && (data['id'] !== workspaceId || data['type'] !== 'workspaces');
}

function otherResource(call: RouteCall, pointer: string): HttpResponse {
  const message = 'The document names another resource than the path';
  if (call.plain)
    return call.errors.callError({ type: 'conflict', message } as { type: 'conflict' }, checked('notifications'));
  return errorResponse([{ status: '409', title: 'conflict', detail: message, source: { pointer } }]);
}

/** Checks the inputs before the operation; returns the answer if it refuses them. */
type InputCheck = (call: RouteCall, read: ReadInputs) => Promise<HttpResponse | undefined>;

/** The route of a call: reads its inputs, performs the call and serializes the result. */
function callRoute(named: NamedCall, check?: InputCheck): Route {
  const { name, call: definition } = named;
  const readInputs = inputReader(definition);
  const takesFilter = Object.hasOwn(definition.inputs, 'filter');
  const ofWaiting = waitingInputsOf(definition);

  const waitingAskedFor = (call: RouteCall): Result<Waiting, BadInput> => {
    const unwanted = takesFilter || definition.interface !== 'jobs' ? undefined : unwantedFilter(call);
    if (unwanted !== undefined) return err(unwanted);
    if (definition.kind === 'waiting') return admittedWaiting(call, ofWaiting);
    return call.dialect.judgesWaiting.has(name) ? waitingOf(call).map(() => immediately) : ok(immediately);
  };

  const answerRead = (call: RouteCall, read: Result<ReadInputs, BadInput>, waiting: Waiting): Answering => {
    if (read.isErr()) return call.errors.badInput(read.error, name);
    if (check === undefined) return answered(named, call, read.value, waiting);
    return check(call, read.value).then((refused) => refused ?? answered(named, call, read.value, waiting));
  };
  // Calls without a body and a check have one promise from here to their answer: that of the operation.
  const handle = (call: RouteCall): Answering => {
    const waiting = waitingAskedFor(call);
    if (waiting.isErr()) return call.errors.badInput(waiting.error, name);
    const read = readInputs(call);
    return read instanceof Promise
      ? read.then((found) => answerRead(call, found, waiting.value))
      : answerRead(call, read, waiting.value);
  };

  const { methods, path, access } = definition;
  return {
    name,
    interface: definition.interface,
    methods,
    path,
    ...(definition.alias === undefined ? {} : { alias: definition.alias }),
    access,
    handle: definition.kind === 'socket' ? ({ errors }) => errors.needsUpgrade() : handle,
    ...(definition.kind === 'socket' ? { socket: conversation(named) } : {}),
  };
}

type Answering = HttpResponse | Promise<HttpResponse>;

/** Performs the call and serializes the result. */
function answered(named: NamedCall, call: RouteCall, read: ReadInputs, waiting: Waiting): Promise<HttpResponse> {
  const { call: definition } = named;
  if (read.faults.length > 0 && closedDocumentOf(definition) !== undefined) {
    const refusal = { type: 'invalid_attributes', faults: read.faults } as const;
    return Promise.resolve(call.errors.callError(refusal, refusing(named, call)));
  }
  const waited = waiting.after !== undefined;
  const first = isPlainOrPretty(call) ? undefined : firstPageOf(definition, read.input, waited);
  const input = first ?? read.input;
  const { plain } = call;
  const { names } = call.dialect;
  const manner = { waiting, faults: read.faults, fromWire: !plain, names, signal: signalOf(definition, call) };
  const performed = call.engine.perform(named, call.caller, input, manner);
  // Calls `then` directly: `await` would add two promises.
  return performed.then((result) =>
    result.isErr()
      ? call.errors.callError(result.error, refusing(named, call))
      : valueResponse(named, call, { input, waited, isFirstPage: first !== undefined, value: result.value }),
  ) as Promise<HttpResponse>;
}

interface ReadAnswer {
  readonly input: CallInput;
  readonly waited: boolean;
  /** Whether the client requests the whole list, of which this may be a page. */
  readonly isFirstPage: boolean;
  readonly value: unknown;
}

function valueResponse(named: NamedCall, call: RouteCall, answer: ReadAnswer): Answering {
  const { call: definition } = named;
  const { input, waited, isFirstPage, value } = answer;
  const hasFurtherPages = isFirstPage && (definition.answer.nextToken?.(value) ?? '') !== '';
  if (hasFurtherPages) return longListResponse(named, call, { input, value });
  if (definition.kind === 'stream') return streamResponse(definition, input, value as AsyncIterable<unknown>);
  if (definition.answer.resource !== undefined && !call.plain) return resourceResponse(definition, call, value);
  return answerResponse(named, call, { value, input, waited });
}

/** A complete list of several pages. */
async function longListResponse(
  named: NamedCall,
  call: RouteCall,
  first: { readonly input: CallInput; readonly value: unknown },
): Promise<HttpResponse> {
  const { call: definition } = named;
  const manner = { waiting: immediately, faults: [], fromWire: true, names: call.dialect.names, signal: never };
  const pieces = listPieces<HttpResponse>(definition, first, async (input) => {
    const page = await call.engine.perform(named, call.caller, input, manner);
    return page.isOk() ? { value: page.value } : { failure: call.errors.callError(page.error, refusing(named, call)) };
  });
  const head = listHead(definition, call, first.value);
  if (first.input['filter'] === undefined) return { ...head, body: pieces };
  const body = await gathered<HttpResponse>(pieces);
  return 'failure' in body ? body.failure : { ...head, body };
}

const immediately: Waiting = {};
const never = new AbortController().signal;

/** Created only for streams and sockets, which use the signal. */
function signalOf(definition: Call, call: RouteCall): AbortSignal {
  if (definition.kind !== 'stream') return never;
  const gone = new AbortController();
  call.request.whenClosed(() => gone.abort());
  return gone.signal;
}

/** The parameters of a blocking query, and its cancellation when the client disconnects. */
function waitingOf(call: RouteCall, inputs: Inputs = waitingInputs): Result<Waiting, BadInput> {
  const { query } = call;
  const isOfJobs = inputs === waitingInputs;
  // The notification interface ignores what it does not know, so its clients may send anything but an index.
  if (query.isEmpty || (!isOfJobs && query.get('index').unwrapOr('') === undefined)) return ok(immediately);
  const values: Record<string, unknown> = {};
  for (const [name, { locations }] of Object.entries(inputs)) {
    const [location] = locations;
    if (location.in !== 'query') continue;
    const value = readParameter(call, name, location.codec);
    if (value.isErr()) return err(value.error);
    if (value.value === undefined) continue;
    values[name] = value.value;
  }
  const page = isOfJobs && call.dialect.judgesPages ? readParameter(call, 'per_page', integer) : ok(undefined);
  if (page.isErr()) return err(page.error);
  const { index, wait } = values as { readonly index?: number; readonly wait?: number };
  if (index === undefined || index === 0) return ok(immediately);
  return ok({
    after: index,
    ...(wait === undefined ? {} : { wait }),
    whenCancelled: (cancel) => call.request.whenClosed(cancel),
  });
}

/** The same, if the caller may wait once more. */
export function admittedWaiting(call: RouteCall, inputs?: Inputs): Result<Waiting, BadInput> {
  return waitingOf(call, inputs).andThen((waiting) =>
    waiting.after === undefined || call.mayWait() ? ok(waiting) : err(badInput('too_many_waiting', tooManyWaiting)),
  );
}

const tooManyWaiting =
  'too many reads of this caller wait for a change: read without the parameter "index", or try again when one of them has been answered';

/** The error for a filter of a call without filters. */
function unwantedFilter({ query, dialect }: RouteCall): BadInput | undefined {
  if (query.isEmpty || dialect.ignoresFilters) return undefined;
  return query.get('filter').match(
    (text) => {
      if (text === undefined || text === '') return undefined;
      const message = 'failed to create result paginator: this call does not support filter expressions';
      return { ...badInput('malformed', message), parameter: 'filter' };
    },
    (error) => error,
  );
}

function refusing({ name, call: { access } }: NamedCall, { request }: RouteCall): RefusingCall {
  return { name, access, where: placeOf(request) };
}

function conversation(named: NamedCall): NonNullable<Route['socket']> {
  const readInputs = inputReader(named.call);
  return async (call, socket) => {
    const read = await readInputs(call);
    if (read.isErr()) return socket.close(1008, read.error.message);
    const gone = new AbortController();
    void socket.closed.then(() => gone.abort());
    const manner = { waiting: immediately, faults: [], signal: gone.signal };
    const begun = await call.engine.perform(named, call.caller, read.value.input, manner);
    if (begun.isOk()) return (begun.value as (opened: typeof socket) => Promise<void>)(socket);
    const { code, reason } = socketRefusal(named.call, begun.error);
    socket.close(code, reason);
  };
}

/** Streams items as they arrive. An undefined item is a heartbeat. */
function streamResponse(definition: Call, input: CallInput, items: AsyncIterable<unknown>): HttpResponse {
  const { answer, contentType = 'application/octet-stream', framesType = jsonType } = definition;
  const framing = framingOf(definition, input);
  const file = isDownload(items) ? ['Content-Disposition', attachmentOf(items.fileName)] : [];
  const type = file.length > 0 ? 'application/octet-stream' : framing === 'bytes' ? contentType : framesType;
  // Compressing middleware would hold items back until its buffer is full, which may take hours.
  const headers = ['Content-Type', type, 'Cache-Control', 'no-cache, no-transform', ...file];
  return { status: answer.status, headers, body: framing === 'bytes' ? bytes() : texts() };

  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const item of items) if (item !== undefined) yield answer.toBytes?.(item, input) ?? (item as Uint8Array);
  }

  async function* texts(): AsyncGenerator<string> {
    for await (const item of items) {
      const text = item === undefined ? '{}' : (answer.toWire(item, input) ?? '{}');
      yield framing === 'lines' ? text + '\n' : text;
    }
  }
}

/** An answer of an operation, to be serialized. */
interface Answered {
  readonly value: unknown;
  readonly input: CallInput;
  /** Whether it answers a blocking query, perhaps together with others. */
  readonly waited: boolean;
}

/**
 * The answer of a call, in the form of its interface or, if requested, in the engine's own form. Blocking queries that waited together
 * share one answer object and one response for each form and each query string.
 */
function answerResponse(named: NamedCall, call: RouteCall, answered: Answered): HttpResponse {
  const { value, waited } = answered;
  if (!waited || typeof value !== 'object' || value === null) return respond(named, call, answered);
  let forms = shared.get(value);
  if (forms === undefined) {
    forms = new Map();
    shared.set(value, forms);
  }
  const form = `${call.plain ? '+' : '-'}${call.dialect.headers.index}?${call.query.raw}`;
  let response = forms.get(form);
  if (response === undefined) {
    const { status, headers, body } = respond(named, call, answered);
    response = { status, headers, body: Buffer.from(body) };
    // Many different query strings must not fill the memory.
    if (forms.size < 16) forms.set(form, response);
  }
  return { status: response.status, headers: response.headers.slice(), body: response.body };
}

const shared = new WeakMap<object, Map<string, WholeResponse>>();

interface WholeResponse extends HttpResponse {
  readonly body: string | Buffer;
}

function respond(named: NamedCall, call: RouteCall, answered: Answered): WholeResponse {
  return call.plain ? plainResponse(named.call, answered) : wireResponse(named, call, answered);
}

function plainResponse({ answer }: Call, { value, input }: Answered): WholeResponse {
  const body = answer.clientText?.(value) ?? JSON.stringify(answer.toClient(value, input)) ?? '';
  const status = answer.statusOf?.(value) ?? answer.status;
  if (body.length === 0) return { status: status === 200 ? 204 : status, headers: [], body: '' };
  // An answer without a body in the interface's form may have one here, which 204 does not allow.
  return { status: status === 204 ? 200 : status, headers: ['Content-Type', plainType, 'Vary', 'Accept'], body };
}

/** The forms of a complete answer. */
function isPlainOrPretty(call: RouteCall): boolean {
  return call.plain || isPretty(call);
}

/** Status and headers of a list with a streamed body. */
function listHead(definition: Call, call: RouteCall, value: unknown): Omit<HttpResponse, 'body'> {
  const headers = ['Content-Type', jsonType, ...indexHeaders(definition, call, value)];
  return { status: definition.answer.status, headers };
}

/** The headers of reads; clients that wait for changes need the index in them (job interface, response headers). */
function indexHeaders({ answer, kind, leaderHeaders }: Call, call: RouteCall, value: unknown): string[] {
  const index = answer.indexOf(value);
  const headers = index === undefined ? [] : [call.dialect.headers.index, String(index)];
  if (kind === 'waiting') headers.push(call.dialect.headers.lastContact, '0', call.dialect.headers.knownLeader, 'true');
  else if (leaderHeaders !== undefined) {
    headers.push(
      call.dialect.headers.lastContact,
      '0',
      call.dialect.headers.knownLeader,
      String(leaderHeaders === 'known'),
    );
  }
  return headers;
}

function wireResponse(
  { name, call: definition }: NamedCall,
  call: RouteCall,
  { value, input }: Answered,
): WholeResponse {
  const { answer, absent } = definition;
  const headers = indexHeaders(definition, call, value);
  const contentType = answer.contentTypeOf?.(value);
  const text = (call.dialect.answers[name] ?? answer).toWire(value, input);
  if (text === undefined || (text === '' && absent !== undefined)) return notFound(call, absent, headers);
  const body = indented(text, contentType === undefined && isPretty(call));
  const status = answer.statusOf?.(value) ?? answer.status;
  headers.push(...pageHeaders(definition, call, value));
  return { status, headers: body === '' ? headers : ['Content-Type', contentType ?? jsonType, ...headers], body };
}

function pageHeaders({ answer }: Call, call: RouteCall, value: unknown): string[] {
  const token = answer.nextToken?.(value) ?? '';
  return token === '' ? [] : [call.dialect.headers.nextToken, pageToken.print(token)];
}

/** With the headers, so that a reader can wait for the record to appear. */
function notFound({ dialect, request }: RouteCall, text = 'not found', headers: readonly string[]): WholeResponse {
  const body = dialect.absence(text, placeOf(request));
  return { status: 404, headers: ['Content-Type', textType, ...headers], body };
}

/** Whether to indent: the parameter is present and not `0`. */
function isPretty({ query }: RouteCall): boolean {
  if (query.isEmpty) return false;
  const asked = query.get('pretty').unwrapOr(undefined);
  return asked !== undefined && asked !== '0';
}

/** The JSON, if requested indented and with a final line feed. */
function indented(text: string, wanted: boolean): string {
  return wanted && text !== '' ? JSON.stringify(JSON.parse(text), null, 4) + '\n' : text;
}

/** A page of a list, or the error answer if it cannot be read. */
type ReadPage<F> = (input: CallInput) => Promise<{ readonly value: unknown } | { readonly failure: F }>;

/** Rows of the first page. Most lists fit in it and are answered as one string. */
const firstRows = 500;
/** Blocking queries share one string, so their limit is higher. */
const sharedRows = 2000;
/** Approximate size of later pages, in characters: reading one blocks the event loop for a few milliseconds. */
const pageLength = 1 << 18;
const mostRows = 500;

/** The first page, if the request is for a complete list; undefined for a single page or another kind of answer. */
function firstPageOf(call: Call, input: CallInput, waits: boolean): CallInput | undefined {
  const { answer, inputs, alwaysPaged = false } = call;
  if (alwaysPaged || answer.nextToken === undefined || !Object.hasOwn(inputs, 'perPage')) return undefined;
  const { perPage } = input;
  return typeof perPage === 'number' && perPage > 0 ? undefined : { ...input, perPage: waits ? sharedRows : firstRows };
}

/**
 * Streams a list that is longer than its first page, so that only one page is in memory. Each page is read when the client
 * has accepted the one before. The index is that of the first page, so a blocking query after it sees all later changes. If a page
 * cannot be read, the stream fails, so that no client mistakes a part for the whole.
 */
async function* listPieces<F>(
  { answer }: Call,
  first: { readonly input: CallInput; readonly value: unknown },
  readPage: ReadPage<F>,
): AsyncGenerator<string, void, void> {
  let { value, input } = first;
  let text = answer.toWire(value, input) ?? '[]';
  yield text.slice(0, -1);
  for (;;) {
    const nextToken = answer.nextToken?.(value) ?? '';
    if (nextToken === '') break;
    input = { ...input, nextToken, perPage: rowsAfter(text, Number(input['perPage'])) };
    const page = await readPage(input);
    if ('failure' in page) throw new UnreadablePage(page.failure);
    value = page.value;
    text = answer.toWire(value, input) ?? '[]';
    if (text.length > 2) yield `,${text.slice(1, -1)}`;
  }
  yield ']';
}

/**
 * A list whose filter may fail at any row: all of it is collected, outside the heap, before it is
 * answered. Returns the failure, if any.
 */
async function gathered<F>(pieces: AsyncIterable<string>): Promise<Buffer | { readonly failure: F }> {
  const found: Buffer[] = [];
  try {
    for await (const piece of pieces) found.push(Buffer.from(piece));
  } catch (error) {
    if (error instanceof UnreadablePage) return { failure: error.failure as F };
    throw error;
  }
  return Buffer.concat(found);
}

/** Carries the answer that the list would have had if its first page could not have been read. */
class UnreadablePage<F> extends Error {
  readonly failure: F;

  constructor(failure: F) {
    super('a page of a list could not be read');
    this.failure = failure;
  }
}

/** As many rows as fill a page, if they are like those before. */
function rowsAfter(text: string, rows: number): number {
  return Math.max(1, Math.min(mostRows, Math.round((rows * pageLength) / text.length)));
}
