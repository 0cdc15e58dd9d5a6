import { expect, test } from 'vitest';
import { manualClock } from '../../../adapters/testing/index.js';
import { LogFeed } from '../../../src/operations/context/log-feed.js';
import { awayMessage } from '../../../src/storage/records.js';

test('what fails because the server of the store is away is logged once in two seconds, anything else always', async () => {
  const clock = manualClock();
  const lines: string[] = [];
  const note = (_fields: object, message: string) => void lines.push(message);
  const feed = new LogFeed({ debug: note, info: note, warn: note, error: note }, clock);
  const outage = (message: string) => feed.error({ error: `Error: ${awayMessage} 10 s.` }, message);
  outage('first');
  for (let n = 0; n < 100; n += 1) outage('second');
  feed.warn({ error: 'no room' }, 'other');
  feed.warn({}, 'no error');
  await clock.advance(1999);
  outage('third');
  await clock.advance(1);
  outage('fourth');
  expect(lines).toEqual(['first', 'other', 'no error', 'fourth']);
});
