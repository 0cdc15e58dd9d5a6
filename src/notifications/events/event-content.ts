import type { NotificationEvent } from './event.js';

/**
 * Whether an event contradicts another one. Members that are null, false or absent contradict nothing: a sender may repeat an
 * event with fewer members.
 */
export function contradicts(event: NotificationEvent, other: NotificationEvent): boolean {
  // Without a time from the sender, `occurredAt` is the time of each report. The form of the body comes from the type, which may
  // have changed since.
  return differs(event.kind === 'custom' ? { ...event, occurredAt: null, body: null } : event, other);
}

function differs(value: unknown, other: unknown): boolean {
  if (value === null || value === undefined || value === false) return false;
  if (typeof value !== 'object') return value !== other;
  if (typeof other !== 'object' || other === null) return true;
  const there = other as Readonly<Record<string, unknown>>;
  return Object.entries(value).some(([name, member]) =>
    differs(member, Object.hasOwn(there, name) ? there[name] : null),
  );
}
