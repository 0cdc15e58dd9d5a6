import type {
  Attributes,
  Context,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  Tracer as Spans,
  trace,
} from '@opentelemetry/api';
import { parseTraceparent, printTraceparent } from '../../src/metrics/traceparent.js';
import { checkOptions } from '../../src/options/check-options.js';
import { optional, port } from '../../src/options/option-kinds.js';
import type { SpanStart, Tracer } from '../../src/ports/tracer.js';
import { isRecord } from '../../src/shared/values.js';

/** The part of the module `@opentelemetry/api` that is used. */
export interface OpenTelemetryApi {
  readonly trace: Pick<typeof trace, 'getTracer' | 'setSpanContext'> & Partial<Pick<typeof trace, 'getSpanContext'>>;
  /** Without it an enqueue of a function begins a trace. */
  readonly context?: Pick<typeof context, 'active'>;
  readonly ROOT_CONTEXT: typeof ROOT_CONTEXT;
  readonly SpanKind: typeof SpanKind;
  readonly SpanStatusCode: typeof SpanStatusCode;
}

/** The OpenTelemetry API and tracer to use. */
export interface OpenTelemetryTracerSettings {
  /** The application's own copy of `@opentelemetry/api`, the one that its SDK is registered with. */
  readonly api: OpenTelemetryApi;
  /** Default: `api.trace.getTracer('signalbox')`. */
  readonly tracer?: Spans;
}

/**
 * Creates OpenTelemetry spans for the work of the engine. The engine sets their parents, instead of the active context of the process,
 * because most parents are read from the store; an enqueue of a function is a child of the active span. The application's SDK decides which spans are kept and where they are exported.
 */
export function openTelemetryTracer(settings: OpenTelemetryTracerSettings): Tracer {
  checkOptions<OpenTelemetryTracerSettings>('openTelemetryTracer', settings, {
    api: { takes: 'the module @opentelemetry/api', fits: (value) => isRecord(value) && isRecord(value['trace']) },
    tracer: optional(port('a tracer of OpenTelemetry', 'startSpan')),
  });
  const { api, tracer: given } = settings;
  const tracer = given ?? api.trace.getTracer('signalbox');
  const { SERVER: server, CLIENT: client, INTERNAL: internal } = api.SpanKind;
  const kinds = { server, client, internal } as const;
  return {
    active: () => {
      const now = api.context === undefined ? undefined : api.trace.getSpanContext?.(api.context.active());
      if (now === undefined) return undefined;
      const printed = printTraceparent({ traceId: now.traceId, spanId: now.spanId, flags: now.traceFlags });
      return parseTraceparent(printed) === undefined ? undefined : printed;
    },
    begin: ({ name, kind, parent, at, attributes }) => {
      const start = {
        kind: kinds[kind],
        attributes: attributes as Attributes,
        ...(at === undefined ? {} : { startTime: at }),
      };
      const span = tracer.startSpan(name, start, contextOf(api, parent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      const printed = printTraceparent({ traceId, spanId, flags: traceFlags });
      return {
        // A tracer without an SDK returns the parent, or only zeros.
        traceparent: parseTraceparent(printed) === undefined ? undefined : printed,
        end: (end = {}) => {
          if (end.attributes !== undefined) span.setAttributes(end.attributes as Attributes);
          if (end.failure !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: end.failure });
          span.end(end.at);
        },
      };
    },
  };
}

function contextOf({ trace, ROOT_CONTEXT: root }: OpenTelemetryApi, parent: SpanStart['parent']): Context {
  const parsed = parent === undefined ? undefined : parseTraceparent(parent);
  if (parsed === undefined) return root;
  const { traceId, spanId, flags } = parsed;
  return trace.setSpanContext(root, { traceId, spanId, traceFlags: flags, isRemote: true });
}
