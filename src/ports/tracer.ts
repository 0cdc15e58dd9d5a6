import type { Instant } from '../shared/instant.js';

/** The start of a span. */
export interface SpanStart {
  /** The name of the operation, from a closed set: without IDs or other values. */
  readonly name: string;
  /** `server`: an incoming request; `client`: an outgoing one. */
  readonly kind: 'server' | 'client' | 'internal';
  /**
   * The parent span, as a `traceparent` of W3C Trace Context; when it is absent or invalid, the span begins a new
   * trace.
   */
  readonly parent?: string | undefined;
  /** When it began; now when absent. */
  readonly at?: Instant;
  /** Attributes of this span, such as IDs, named by the OpenTelemetry semantic conventions. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** The end of a span. */
export interface SpanEnd {
  /** When it ended; now when absent. */
  readonly at?: Instant;
  /** Why the work of the span failed; absent when it did not. */
  readonly failure?: string;
  /** Attributes that were not available at the start. */
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** A span that has begun and not ended yet. */
export interface TracedSpan {
  /** The parent for child spans; undefined without a tracer. */
  readonly traceparent: string | undefined;
  /** Ends the span. Called once. */
  end(end?: SpanEnd): void;
}

/** Receives spans of requests, launches, evaluations, runs, enqueues and attempts of functions, and delivery attempts. Its methods must not throw. */
export interface Tracer {
  /** Begins a span; its creator ends it. */
  begin(start: SpanStart): TracedSpan;
  /**
   * The span that is active in the code of the host, as a `traceparent`: the parent of an enqueue. Absent, or undefined when there is
   * none: the enqueue begins a trace.
   */
  active?(): string | undefined;
}
