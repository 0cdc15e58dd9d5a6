import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { DestinationKind } from '../configurations/destination.js';
import type { AttemptReport } from '../delivery/conclude-attempt.js';

/**
 * A hook of a chat service that asked to be left alone until a time. Several configurations may share the hook, in any workspace, and
 * several processes may send to it, so it has a separate row.
 */
export interface HookHold {
  /** A digest of the URL, which is a secret. */
  readonly hook: string;
  /** In the queues' time. */
  readonly until: Instant;
}

export const hookHolds = table<HookHold>('notification_hook_holds', ({ hook }) => [hook]);

/**
 * Until when the hook of an attempt is left alone: a chat service that answers 429 and names a time means the hook, not the one message.
 * Null when nothing was asked for; other destinations mean whatever they like, and their breaker copes with it.
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
