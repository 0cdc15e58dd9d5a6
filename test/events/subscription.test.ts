import { describe, expect, it } from 'vitest';
import type { Notice } from '../../src/events/changes.js';
import { isSubscribed, subscriptionFrom } from '../../src/events/subscription.js';

const event: Notice = {
  Topic: 'Evaluation',
  Type: 'JobRegistered',
  Key: 'e1',
  Namespace: 'default',
  FilterKeys: ['web', ''],
};

describe('subscriptions', () => {
  it.each([
    [[], true],
    [['*'], true],
    [['*:web'], true],
    [['*:other'], false],
    [['Evaluation'], true],
    [['Evaluation:*'], true],
    [['Evaluation:e1'], true],
    [['Evaluation:web'], true],
    [['Evaluation:'], true],
    [['Evaluation:w*'], false],
    [['evaluation:web'], false],
    [['Job:web'], false],
    [['Job:web', 'Evaluation:e1'], true],
    [['Planet'], false],
    [[':'], false],
    [[':web'], false],
    [['__proto__:web'], false],
  ])('%j: %s', (topics, expected) => {
    expect(isSubscribed(subscriptionFrom(topics)._unsafeUnwrap(), event)).toBe(expected);
  });

  it('refuses keys with a colon', () => {
    expect(subscriptionFrom(['Job:a:b'])._unsafeUnwrapErr()).toEqual({
      type: 'invalid_topic',
      topic: 'Job:a:b',
      message: 'Invalid topic query: error parsing topics: Invalid key value pair for topic, topic: Job:a:b',
    });
  });
});
