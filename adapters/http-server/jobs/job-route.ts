import { ok, type Result, type ResultAsync } from 'neverthrow';
import type { Answer, Capability, Waiting } from '../../../src/index.js';
import { type BadInput, badInput } from '../bad-input.js';
import { type Fields, type FieldValues, readFields, schemaOfFields } from '../fields.js';
import type { HttpResponse } from '../http-message.js';
import { parseJsonBody } from '../json-body.js';
import type { JsonSchema } from '../json-schema.js';
import { type Parameters, type ParameterValues, readParameters as readDeclared } from '../query.js';
import type { HttpMethod, Route, RouteAccess, RouteCall } from '../route.js';
import { type JobInterfaceError, jobErrorResponse, jobErrors } from './job-errors.js';
import {
  checkRegion,
  namespaceParameters,
  readParameters,
  unwantedFilter,
  waitingFrom,
  writeParameters,
} from './job-parameters.js';
import { absentResponse, bodyOf, readResponse } from './job-responses.js';

/** Access by capability in the request's namespace. */
export function needs(...anyOf: readonly Capability[]): RouteAccess {
  return { type: 'namespace', anyOf };
}

/** Access by capability in a namespace that the body may name, or that the record or document concerned does. */
export function needsIn(namedBy: 'body' | 'record', ...anyOf: readonly Capability[]): RouteAccess {
  return { type: 'namespace', anyOf, namedBy };
}

type ScopedValues<P extends Parameters> = ParameterValues<P & typeof namespaceParameters>;

function scopeOf({ inNoNamespace }: { readonly inNoNamespace?: true }): Partial<typeof namespaceParameters> {
  return inNoNamespace === true ? {} : namespaceParameters;
}

/** What a read hands to its operation. */
export interface ReadInput<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly namespace: string;
  /** The first path value; empty when the path has none. */
  readonly id: string;
  readonly waiting: Waiting;
}

export interface ReadDefinition<P extends Parameters, T> {
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly access: RouteAccess;
  readonly parameters: P;
  /** What is read is in no namespace. */
  readonly inNoNamespace?: true;
  readonly anyMethod?: true;
  readonly schema: () => JsonSchema;
  readonly run: (call: RouteCall, input: ReadInput<P>) => ResultAsync<Answer<T>, JobInterfaceError>;
  /** The JSON text; undefined means that there is nothing: 404 with `absent`. */
  readonly print: (value: T, input: ReadInput<P>, index: number) => string | undefined;
  readonly absent?: string;
  readonly nextToken?: (value: T) => string | null | undefined;
}

/** A read of the job interface: it can wait, and it relays what is stored. */
export function readRoute<P extends Parameters, T>(definition: ReadDefinition<P, T>): Route {
  const parameters = { ...scopeOf(definition), ...readParameters, ...definition.parameters };
  const absent = definition.absent ?? 'not found';
  const takesFilter = Object.hasOwn(parameters, 'filter');
  return {
    half: 'jobs',
    methods: ['GET'],
    ...(definition.anyMethod === true ? { anyMethod: true } : {}),
    path: definition.path,
    access: definition.access,
    operation: definition.operation,
    summary: definition.summary,
    parameters,
    answers: {
      200: { description: 'The answer', contentType: 'application/json', schema: definition.schema },
      ...(definition.absent === undefined
        ? {}
        : { 404: { description: absent, contentType: 'text/plain', schema: () => ({ type: 'string' }) } }),
    },
    handle: async (call) => {
      const values = readDeclared(parameters, call.query);
      if (values.isErr()) return jobErrors.badInput(values.error);
      const { region, namespace } = values.value as ScopedValues<typeof readParameters>;
      const inRegion = checkRegion(region, call);
      if (inRegion.isErr()) return jobErrors.badInput(inRegion.error);
      const filtered = takesFilter ? ok(undefined) : unwantedFilter(call);
      if (filtered.isErr()) return jobErrors.badInput(filtered.error);
      if (call.pathValues[0] === '') return missingId();
      const waiting = waitingFrom(values.value as ParameterValues<typeof readParameters>, call);
      const input: ReadInput<P> = {
        values: values.value as ParameterValues<P>,
        namespace: namespace === undefined || namespace === '' ? 'default' : namespace,
        id: call.pathValues[0] ?? '',
        waiting,
      };
      const answered = await definition.run(call, input);
      if (answered.isErr()) return jobErrorResponse(answered.error);
      const answer = answered.value;
      let found = true;
      const body = bodyOf(call, answer, waiting.after !== undefined, (value) => {
        const text = definition.print(value, input, answer.index);
        if (text === undefined) found = false;
        return text ?? '';
      });
      // A shared body is printed once; an absent answer prints as nothing for everyone.
      if (!found || body.length === 0) return absentResponse(call, answer.index, absent);
      return readResponse(call, answer.index, body, definition.nextToken?.(answer.value));
    },
  };
}

/** What a write hands to its operation. */
export interface WriteInput<P extends Parameters, F extends Fields> {
  readonly values: ParameterValues<P & typeof writeParameters>;
  readonly body: FieldValues<F>;
  readonly bodyGiven: boolean;
  /** The query's namespace, undefined when it names none: then the body's may count. */
  readonly namespace: string | undefined;
  readonly id: string;
}

export interface WriteDefinition<P extends Parameters, F extends Fields> {
  readonly methods?: readonly [HttpMethod, ...HttpMethod[]];
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly access: RouteAccess;
  readonly parameters: P;
  /** What is changed is in no namespace. */
  readonly inNoNamespace?: true;
  readonly fields: F;
  /** `ignored`: the body is not looked at. `optional`: an absent one is an empty object. */
  readonly body: 'required' | 'optional' | 'ignored';
  readonly bodySchema?: () => JsonSchema;
  /** Of the answer; absent when it has no body. */
  readonly schema?: () => JsonSchema;
  readonly run: (call: RouteCall, input: WriteInput<P, F>) => Promise<HttpResponse>;
}

/** A write of the job interface. PUT and POST mean the same. */
export function writeRoute<P extends Parameters, F extends Fields>(definition: WriteDefinition<P, F>): Route {
  const parameters = { ...scopeOf(definition), ...writeParameters, ...definition.parameters };
  return {
    half: 'jobs',
    methods: definition.methods ?? ['POST', 'PUT'],
    path: definition.path,
    access: definition.access,
    operation: definition.operation,
    summary: definition.summary,
    parameters,
    ...(definition.body === 'ignored'
      ? {}
      : {
          requestBody: {
            contentType: 'application/json',
            required: definition.body === 'required',
            schema: definition.bodySchema ?? (() => schemaOfFields(definition.fields)),
          },
        }),
    answers: {
      200:
        definition.schema === undefined
          ? { description: 'Done' }
          : { description: 'The answer', contentType: 'application/json', schema: definition.schema },
    },
    handle: async (call) => {
      const values = readDeclared(parameters, call.query);
      if (values.isErr()) return jobErrors.badInput(values.error);
      const { region, namespace: given } = values.value as ScopedValues<typeof writeParameters>;
      if (call.pathValues[0] === '') return missingId();
      const namespace = given === '' ? undefined : given;
      const body = await bodyFields(call, definition);
      if (body.isErr()) return jobErrors.badInput(body.error);
      const inRegion = checkRegion(regionIn(body.value.fields) ?? region, call);
      if (inRegion.isErr()) return jobErrors.badInput(inRegion.error);
      return definition.run(call, {
        values: values.value as ParameterValues<P & typeof writeParameters>,
        body: body.value.fields,
        bodyGiven: body.value.given,
        namespace,
        id: call.pathValues[0] ?? '',
      });
    },
  };
}

/** The body's region counts before the query's. */
function regionIn(fields: FieldValues<Fields>): string | undefined {
  const region = fields['Region'];
  return typeof region === 'string' && region !== '' ? region : undefined;
}

function missingId(): HttpResponse {
  return jobErrors.badInput(badInput('absent', 'missing job ID'));
}

async function bodyFields<P extends Parameters, F extends Fields>(
  call: RouteCall,
  definition: WriteDefinition<P, F>,
): Promise<Result<{ readonly fields: FieldValues<F>; readonly given: boolean }, BadInput>> {
  const nothing = { fields: {} as FieldValues<F>, given: false };
  if (definition.body === 'ignored') return ok(nothing);
  const read = await call.readBody();
  if (read.type === 'absent' && definition.body === 'optional') return ok(nothing);
  return parseJsonBody(read)
    .andThen((value) => readFields(definition.fields, value))
    .map((fields) => ({ fields, given: true }));
}
