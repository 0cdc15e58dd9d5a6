import { err, ok, type Result } from 'neverthrow';
import type { Notice } from './changes.js';

/** A topic of a subscription is invalid. */
export interface InvalidTopic {
  readonly type: 'invalid_topic';
  /** As given by the caller. */
  readonly topic: string;
  readonly message: string;
}

/** The requested keys of each topic; `*` stands for all topics, and for all keys. */
export type Subscription = ReadonlyMap<string, ReadonlySet<string>>;

const EVERYTHING = '*';

/** Topics with optional keys: `Job`, `Job:web`, `*:web`. Without any, everything. Unknown topics are topics without events. */
export function subscriptionFrom(topics: readonly string[]): Result<Subscription, InvalidTopic> {
  const subscription = new Map<string, Set<string>>();
  for (const written of topics.length === 0 ? [EVERYTHING] : topics) {
    const [topic = '', key = EVERYTHING, ...more] = written.split(':');
    if (more.length > 0) return err(invalidTopic(written));
    const keys = subscription.get(topic) ?? new Set();
    subscription.set(topic, keys.add(key === '' ? EVERYTHING : key));
  }
  return ok(subscription);
}

function invalidTopic(topic: string): InvalidTopic {
  const message = `Invalid topic query: error parsing topics: Invalid key value pair for topic, topic: ${topic.slice(0, 200)}`;
  return { type: 'invalid_topic', topic, message };
}

/** Whether a subscription includes an event, by its key or one of its other keys. */
export function isSubscribed(subscription: Subscription, event: Notice): boolean {
  return hasKey(subscription.get(event.Topic), event) || hasKey(subscription.get(EVERYTHING), event);
}

function hasKey(keys: ReadonlySet<string> | undefined, { Key, FilterKeys }: Notice): boolean {
  if (keys === undefined) return false;
  return keys.has(EVERYTHING) || keys.has(Key) || (FilterKeys ?? []).some((key) => key !== '' && keys.has(key));
}
