import { callerWithin, type Engine, type Principal } from '../../../src/index.js';
import { type HttpRequest, type HttpResponse, headerValue } from '../http-message.js';

interface TracedRequest {
  readonly engine: Engine;
  readonly request: HttpRequest;
  /** Pattern of the path. */
  readonly route: string;
  readonly caller: Principal;
}

/**
 * Answers within the trace of the request's `traceparent` header and, if a tracer is set, in a new span, so that everything the
 * call causes has it as parent. An invalid `traceparent` is ignored by the engine and by the tracer.
 */
export function withinTrace(
  traced: TracedRequest,
  answer: (caller: Principal) => HttpResponse | Promise<HttpResponse>,
): HttpResponse | Promise<HttpResponse> {
  const parent = headerValue(traced.request, 'traceparent');
  const { tracer } = traced.engine;
  return tracer === undefined ? answer(within(traced.caller, parent)) : recorded(traced, tracer, parent, answer);
}

async function recorded(
  { request, route, caller }: TracedRequest,
  tracer: NonNullable<Engine['tracer']>,
  parent: string | undefined,
  answer: (caller: Principal) => HttpResponse | Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { method } = request;
  const attributes = { 'http.request.method': method, 'http.route': route };
  const span = tracer.begin({ name: `${method} ${route}`, kind: 'server', parent, attributes });
  try {
    const response = await answer(within(caller, span.traceparent ?? parent));
    const { status } = response;
    const answered = { attributes: { 'http.response.status_code': status } };
    span.end(status >= 500 ? { ...answered, failure: `status ${status}` } : answered);
    return response;
  } catch (thrown) {
    span.end({ failure: 'the request failed' });
    throw thrown;
  }
}

function within(caller: Principal, traceparent: string | undefined): Principal {
  return traceparent === undefined ? caller : callerWithin(caller, traceparent);
}
