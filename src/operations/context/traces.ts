import type { TracedSpan, Tracer } from '../../ports/tracer.js';
import type { Instant } from '../../shared/instant.js';

/** The most evaluations whose cause is kept; beyond it, the oldest are removed. */
const mostRemembered = 10_000;

/** The cause of an evaluation. */
interface Cause {
  readonly traceparent: string;
  readonly at: Instant;
}

/** The traces of evaluations that requests to this process caused. Kept in memory only; an evaluation without an entry has no span. */
export class EvaluationTraces {
  readonly #causes = new Map<string, Cause>();

  remember(evaluationId: string, cause: Cause): void {
    this.#causes.set(evaluationId, cause);
    if (this.#causes.size <= mostRemembered) return;
    for (const oldest of this.#causes.keys()) {
      this.#causes.delete(oldest);
      return;
    }
  }

  take(evaluationId: string): Cause | undefined {
    const cause = this.#causes.get(evaluationId);
    this.#causes.delete(evaluationId);
    return cause;
  }
}

/** The spans of one write's launches: each begins a separate trace. Reruns of the work reuse those of the first run. */
export class LaunchSpans {
  readonly #tracer: Tracer | undefined;
  readonly #spans = new Map<string, TracedSpan>();

  constructor(tracer: Tracer | undefined) {
    this.#tracer = tracer;
  }

  traceparentOf(namespace: string, jobId: string): string | undefined {
    if (this.#tracer === undefined) return undefined;
    const key = JSON.stringify([namespace, jobId]);
    let span = this.#spans.get(key);
    if (span === undefined) {
      const attributes = { 'signalbox.namespace': namespace, 'signalbox.job': jobId };
      span = this.#tracer.begin({ name: 'periodic launch', kind: 'internal', attributes });
      this.#spans.set(key, span);
    }
    return span.traceparent;
  }

  end(): void {
    for (const span of this.#spans.values()) span.end();
  }
}
