import type { Instant } from '../shared/instant.js';

/** What is known of a span when it begins. */
export interface SpanStart {
  /** What is done, from a closed set: without IDs or other values. */
  readonly name: string;
  /** `server`: a request that came in; `client`: one that goes out. */
  readonly kind: 'server' | 'client' | 'internal';
  /**
   * The span that caused it, as a `traceparent` of W3C Trace Context; when it is absent or invalid, the span begins a trace of
   * its own.
   */
  readonly parent?: string | undefined;
  /** When it began; now when absent. */
  readonly at?: Instant;
  /** Values of this occasion, such as IDs, by their names in the conventions of OpenTelemetry. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** What is known of a span when it ends. */
export interface SpanEnd {
  /** When it ended; now when absent. */
  readonly at?: Instant;
  /** Why the work of the span failed; absent when it did not. */
  readonly failure?: string;
  /** Values that were not known at the start. */
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** What has begun and not ended yet. */
export interface TracedSpan {
  /** Passed on to what it causes; undefined without a tracer. */
  readonly traceparent: string | undefined;
  /** Ends the span. Called once. */
  end(end?: SpanEnd): void;
}

/** Where spans go: requests, launches, evaluations, runs, attempts to deliver. Calls must not throw. */
export interface Tracer {
  /** Begins a span; its creator ends it. */
  begin(start: SpanStart): TracedSpan;
}
