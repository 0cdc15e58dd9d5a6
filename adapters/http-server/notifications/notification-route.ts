import type { WorkspaceRight } from '../../../src/index.js';
import type { HttpResponse } from '../http-message.js';
import type { JsonSchema } from '../json-schema.js';
import { type Parameters, type ParameterValues, readParameters } from '../query.js';
import { jsonApiType } from '../responses.js';
import type { AnswerDescription, HttpMethod, RequestBodyDescription, Route, RouteCall } from '../route.js';
import { notificationErrors } from './notification-errors.js';

export interface NotificationDefinition<P extends Parameters> {
  readonly method: HttpMethod;
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly right: WorkspaceRight;
  readonly parameters: P;
  readonly requestSchema?: () => JsonSchema;
  readonly requestRequired?: boolean;
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  readonly run: (call: RouteCall, values: ParameterValues<P>) => Promise<HttpResponse>;
}

/** A route of the notification interface. Each of its paths has exactly one id, the first path value. */
export function notificationRoute<P extends Parameters>(definition: NotificationDefinition<P>): Route {
  const { method, path, operation, summary, right, parameters, answers, requestSchema } = definition;
  return {
    half: 'notifications',
    methods: [method],
    path,
    access: { type: 'workspace', right },
    operation,
    summary,
    parameters,
    ...(requestSchema === undefined
      ? {}
      : { requestBody: documentBody(requestSchema, definition.requestRequired ?? true) }),
    answers,
    handle: async (call) => {
      const values = readParameters(parameters, call.query);
      return values.isErr() ? notificationErrors.badInput(values.error) : definition.run(call, values.value);
    },
  };
}

/** A JSON:API answer. */
export function documentResponse(status: number, document: unknown): HttpResponse {
  return { status, headers: ['Content-Type', jsonApiType], body: JSON.stringify(document) };
}

export function documentAnswer(description: string, schema: () => JsonSchema): AnswerDescription {
  return { description, contentType: jsonApiType, schema };
}

function documentBody(schema: () => JsonSchema, required: boolean): RequestBodyDescription {
  return { contentType: jsonApiType, required, schema };
}
