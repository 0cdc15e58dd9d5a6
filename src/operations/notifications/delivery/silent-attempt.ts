import type { Failure } from '../../../notifications/delivery/classify-failure.js';
import type { AttemptReport } from '../../../notifications/delivery/conclude-attempt.js';
import type { Delivery, RecipientResult } from '../../../notifications/delivery/delivery.js';
import type { SpanStart, TracedSpan } from '../../../ports/tracer.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';

/** An attempt without an HTTP response. */
export function silentAttempt(
  context: EngineContext,
  { destination, startedAt = context.clock.now() }: { readonly destination: string; readonly startedAt?: Instant },
  failure: Failure | null,
  recipients: readonly RecipientResult[] | null = null,
): AttemptReport {
  return {
    attempt: {
      startedAt: Math.trunc(startedAt),
      headersAfter: null,
      total: Math.max(0, Math.round(context.clock.now() - startedAt)),
      destination,
      address: null,
      status: null,
      headers: {},
      body: '',
      truncated: false,
      failure: failure === null ? null : { class: failure.class, message: failure.message },
    },
    failure,
    retryAfter: null,
    body: null,
    recipients,
  };
}

/** Begins the span of an attempt as a child of the event's trace; undefined without a tracer. */
export function beginAttempt(
  { tracer }: EngineContext,
  delivery: Delivery,
  attributes: SpanStart['attributes'],
): TracedSpan | undefined {
  return tracer?.begin({
    name: 'notification attempt',
    kind: 'client',
    parent: delivery.traceparent,
    attributes: {
      ...attributes,
      'signalbox.delivery': delivery.id,
      'signalbox.event': delivery.eventId,
      'signalbox.trigger': delivery.trigger,
      'signalbox.attempt': delivery.attempts.length + 1,
    },
  });
}
