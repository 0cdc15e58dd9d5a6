import { err, errAsync, okAsync, ResultAsync } from 'neverthrow';
import { expect, test } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import { WorkWatch } from '../../../../adapters/runner/node/agent.js';
import type { NodeWorkList } from '../../../../src/agent/link/node-work.js';
import type { AgentLink, AgentLinkError } from '../../../../src/ports/agent-link.js';

type Answer = (after: number, signal: AbortSignal) => ResultAsync<NodeWorkList, AgentLinkError>;

const list = (index: number): NodeWorkList => ({ index, complete: false, work: [], gone: [] });
const waits: Answer = (_, signal) =>
  new ResultAsync(
    new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve(err({ type: 'link_failed', message: 'aborted' }))),
    ),
  );

function watch(...answers: Answer[]) {
  const asked: number[] = [];
  const link = {
    work: ({ after }, signal) => {
      asked.push(after);
      return (answers.shift() ?? waits)(after, signal);
    },
  } satisfies Pick<AgentLink, 'work'> as unknown as AgentLink;
  const clock = manualClock();
  const ending = new AbortController();
  const failures: string[] = [];
  /** Questions that had been asked at each announcement of one. */
  const announced: number[] = [];
  const onFailure = async ({ type }: AgentLinkError) => void failures.push(type);
  const work = new WorkWatch({
    link,
    clock,
    nodeId: 'n',
    signal: ending.signal,
    onFailure,
    onAsk: () => void announced.push(asked.length),
  });
  return { announced, asked, clock, ending, failures, work };
}

test('the work is asked for as a whole, then by what has changed', async () => {
  const { work, announced, asked } = watch(
    () => okAsync(list(7)),
    () => okAsync(list(9)),
  );
  expect([await work.next(), await work.next()]).toEqual([list(7), list(9)]);
  expect(asked).toEqual([0, 7]);
  expect(announced).toEqual([0, 1]);
});

test('a question that fails is asked again as a whole: the server may have come back with an older store', async () => {
  const { work, asked, clock, failures } = watch(
    () => okAsync(list(7)),
    () => errAsync({ type: 'link_failed', message: 'cut' }),
    () => okAsync(list(8)),
  );
  await work.next();
  const next = work.next();
  await clock.advance(1000);
  expect(await next).toEqual(list(8));
  expect(asked).toEqual([0, 7, 0]);
  expect(failures).toEqual(['link_failed']);
});

test('a question that waits is asked anew as a whole when the node had to register again', async () => {
  const { work, asked } = watch(
    () => okAsync(list(7)),
    waits,
    () => okAsync(list(12)),
  );
  await work.next();
  const next = work.next();
  work.startOver();
  expect(await next).toEqual(list(12));
  expect(asked).toEqual([0, 7, 0]);
});

test('also between two questions', async () => {
  const { work, asked } = watch(
    () => okAsync(list(7)),
    () => okAsync(list(12)),
  );
  await work.next();
  work.startOver();
  await work.next();
  expect(asked).toEqual([0, 0]);
});

test('it ends with its signal', async () => {
  const { work, ending } = watch(waits);
  const next = work.next();
  ending.abort();
  expect(await next).toBeUndefined();
  expect(await work.next()).toBeUndefined();
});
