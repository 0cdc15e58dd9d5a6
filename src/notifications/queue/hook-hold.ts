import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { DestinationKind } from '../configurations/destination.js';
import type { AttemptReport } from '../delivery/conclude-attempt.js';

/**
 * A chat hook that asked for a pause. It has a separate row, because several configurations, in any workspace, and
 * several processes may use the hook.
 */
interface HookHold {
  /** A digest of the URL, which is a secret. */
  readonly hook: string;
  /** In queue time. */
  readonly until: Instant;
}

export const hookHolds = table<HookHold>('notification_hook_holds', ({ hook }) => [hook]);

/**
 * Until when the hook of an attempt gets no requests: the `Retry-After` of a chat service's 429 applies to the hook, not to one message.
 * Null without it, and for other destinations, whose meaning is not standardised: their breaker handles it.
 */
export function holdAfter(
  kind: DestinationKind,
  { attempt, retryAfter }: AttemptReport,
  at: Instant,
  longest: Milliseconds,
): Instant | null {
  if ((kind !== 'chat-a' && kind !== 'chat-b') || attempt.status !== 429 || retryAfter === null) return null;
  return retryAfter > 0 ? at + Math.min(retryAfter, longest) : null;
}
