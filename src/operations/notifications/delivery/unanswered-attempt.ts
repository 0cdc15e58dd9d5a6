import type { Failure } from '../../../notifications/delivery/classify-failure.js';
import type { AttemptReport } from '../../../notifications/delivery/conclude-attempt.js';
import type { RecipientResult } from '../../../notifications/delivery/delivery.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';

/** An attempt without an HTTP answer. */
export function unansweredAttempt(
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
