import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { heldSignal } from '../../src/shared/held-signal.js';
import { collectGarbage } from '../support/collect-garbage.js';

it('keeps the time of a source that nobody else holds', async () => {
  const stop = new AbortController();
  const either = AbortSignal.any([stop.signal, heldSignal(AbortSignal.timeout(100))]);
  const aborted = new Promise<unknown>((resolve) => either.addEventListener('abort', () => resolve(either.reason)));
  // The source is collected only in a later turn of the event loop.
  await pause(10);
  collectGarbage();
  expect(await aborted).toMatchObject({ name: 'TimeoutError' });
});

it('adds at most one listener, however often a signal is held', () => {
  const { signal } = new AbortController();
  const added: unknown[] = [];
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener) => {
    added.push(listener);
    add(type, listener);
  };
  expect(heldSignal(heldSignal(signal))).toBe(signal);
  expect(new Set(added).size).toBe(1);
});
