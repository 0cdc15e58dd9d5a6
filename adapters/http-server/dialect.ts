import type { AnswerForm } from '../../src/api/answers.js';
import type { ErrorTag } from '../../src/api/errors.js';
import type { TextCodec } from '../../src/api/text-codecs.js';
import type { VerificationResponse } from '../../src/index.js';
import type { InterfaceErrors } from './errors/interface-errors.js';
import { jobErrors, jobStatusesOf } from './errors/job-errors.js';
import {
  acceptsGzip,
  type HeaderNames,
  type HttpRequest,
  type HttpResponse,
  headerNames,
  type Vocabulary,
} from './http-message.js';

/**
 * What clients of the job interface expect of requests and answers. `neutral` is the form of this server; a dialect of another server's
 * clients replaces some of its members. Names are those of calls, such as `jobs.read`.
 */
export interface JobDialect {
  /** Whose records and rules operations apply. */
  readonly names: Vocabulary;
  readonly headers: HeaderNames;
  readonly errors: InterfaceErrors;
  /** Every status that errors with this tag can have, the usual one first. */
  readonly statusesOf: (tag: ErrorTag, call: string) => readonly number[];
  /** A message that something is missing; `where`: method and path of the request. */
  readonly absence: (message: string, where: string) => string;
  /** The redirect of a path, which is raw, before it is looked up. */
  readonly redirected: (method: string, path: string, query: string) => HttpResponse | undefined;
  /** The answer to a path with a missing or an excess part; undefined for other paths. */
  readonly incompletePath: (method: string, path: string) => IncompletePath | undefined;
  /** Calls that take every method. */
  readonly anyMethod: ReadonlySet<string>;
  /** The answer to routes that only other servers provide; `methods`: also to their further methods on paths that this server has. */
  readonly notProvided: { readonly status: 404 | 501; readonly methods: boolean };
  /** Errors in a small body precede a missing right. */
  readonly bodyBeforeRight: boolean;
  /** Reads ignore parameters that cannot be decoded; writes refuse them. */
  readonly ignoresUndecodable: boolean;
  /** Calls without filters ignore one. Otherwise they refuse it: a client could mistake the answer for a filtered one. */
  readonly ignoresFilters: boolean;
  /** Calls that refuse invalid waiting parameters although they never wait. */
  readonly judgesWaiting: ReadonlySet<string>;
  /** Reads that can wait refuse an invalid page length, also if they have no pages. */
  readonly judgesPages: boolean;
  /** An empty parameter counts as absent where no value is empty. */
  readonly emptyIsAbsent: boolean;
  /** A body of `null` has no members; otherwise it is refused. */
  readonly nullIsEmpty: boolean;
  /** The codec to read a query parameter with. */
  readonly codecOf: (codec: TextCodec<unknown>) => TextCodec<unknown>;
  /** The answers whose bodies differ from those of the table of calls. */
  readonly answers: Readonly<Record<string, Pick<AnswerForm<unknown, unknown>, 'toWire'>>>;
  /** The close reason of a socket whose caller sent an unknown token. */
  readonly unknownSocketToken: (token: string) => string;
  /** Answers with fewer bytes are not compressed; `accepts`: whether a list of codings allows gzip. */
  readonly compression: { readonly smallest: number; readonly accepts: (accepted: string) => boolean };
}

/** The answer to a path that lacks a part or has one too many. */
export interface IncompletePath {
  readonly status: 400 | 404 | 500;
  readonly message: string;
}

/** The form in which notification documents show the response of a destination to this client; undefined for the usual one. */
export type DeliveryResponses = ((request: HttpRequest, response: VerificationResponse) => object) | undefined;

/** What the clients of a handler expect. */
export interface Dialects {
  readonly jobs: JobDialect;
  readonly deliveryResponses: DeliveryResponses;
}

const none: ReadonlySet<string> = new Set();

export const neutral: JobDialect = {
  names: 'neutral',
  headers: headerNames('X-SVC'),
  errors: jobErrors,
  statusesOf: jobStatusesOf,
  absence: (message, where) => `${message}: ${where}`,
  redirected: () => undefined,
  incompletePath,
  anyMethod: none,
  notProvided: { status: 404, methods: false },
  bodyBeforeRight: false,
  ignoresUndecodable: false,
  ignoresFilters: false,
  judgesWaiting: none,
  judgesPages: false,
  emptyIsAbsent: false,
  nullIsEmpty: false,
  codecOf: (codec) => codec,
  answers: {},
  unknownSocketToken: () => 'rpc error: Permission denied',
  compression: { smallest: 2048, accepts: acceptsGzip },
};

export const neutralDialects: Dialects = { jobs: neutral, deliveryResponses: undefined };

/** Messages for paths with a missing last part. */
const missingParts: ReadonlyMap<string, string> = new Map([
  ['/v1/acl/policy/', 'Missing Policy Name'],
  ['/v1/acl/token/', 'Missing Token Accessor'],
  ['/v1/acl/role/', 'missing ACL role ID'],
  ['/v1/acl/role/name/', 'missing ACL role name'],
  ['/v1/namespace/', 'Missing Namespace Name'],
  ['/v1/service/', 'missing service name'],
  ...['ls', 'stat', 'cat', 'readat', 'stream', 'logs'].map((call): [string, string] => [
    `/v1/client/fs/${call}/`,
    'must provide a valid alloc id',
  ]),
]);

export const unreadableId = 'the ID must be a UUID of 36 characters';

/** Prefixes of records that are read by a complete UUID: an empty one is invalid. */
const records: ReadonlySet<string> = new Set(['/v1/allocation/', '/v1/deployment/', '/v1/node/']);

function incompletePath(method: string, path: string): IncompletePath | undefined {
  const isRecord = method === 'GET' && records.has(path);
  const message = missingParts.get(path) ?? (isRecord ? unreadableId : undefined);
  return message === undefined ? undefined : { status: 400, message };
}
