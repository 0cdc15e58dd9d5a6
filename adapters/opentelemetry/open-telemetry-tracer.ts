import {
  type Attributes,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer as Spans,
  trace,
} from '@opentelemetry/api';
import { parseTraceparent, printTraceparent } from '../../src/metrics/traceparent.js';
import type { SpanStart, Tracer } from '../../src/ports/tracer.js';

export interface OpenTelemetryTracerSettings {
  /** `trace.getTracer('signalbox')` of `@opentelemetry/api`. */
  readonly tracer: Spans;
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/**
 * Makes spans of OpenTelemetry of what the engine does. Parents are those that the engine names, not what is active in the process:
 * most of them come from a store, not from a caller. Where spans go, and which are kept, is the affair of the application's SDK.
 */
export function openTelemetryTracer({ tracer }: OpenTelemetryTracerSettings): Tracer {
  return {
    begin: ({ name, kind, parent, at, attributes }) => {
      const start = {
        kind: kinds[kind],
        attributes: attributes as Attributes,
        ...(at === undefined ? {} : { startTime: at }),
      };
      const span = tracer.startSpan(name, start, contextOf(parent));
      const { traceId, spanId, traceFlags } = span.spanContext();
      const printed = printTraceparent({ traceId, spanId, flags: traceFlags });
      return {
        // A tracer without an SDK gives the parent, or nothing but zeros.
        traceparent: parseTraceparent(printed) === undefined ? undefined : printed,
        end: (end = {}) => {
          if (end.attributes !== undefined) span.setAttributes(end.attributes as Attributes);
          if (end.failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: end.failure });
          span.end(end.at);
        },
      };
    },
  };
}

function contextOf(parent: SpanStart['parent']) {
  const parsed = parent === undefined ? undefined : parseTraceparent(parent);
  if (parsed === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parsed;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote: true });
}
