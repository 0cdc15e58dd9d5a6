import type { Delivery } from '../../../notifications/delivery/delivery.js';
import type { SpanStart, TracedSpan } from '../../../ports/tracer.js';
import type { EngineContext } from '../../context/engine-context.js';

/** Begins the span of an attempt as a child of the event's cause; undefined without a tracer. */
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
