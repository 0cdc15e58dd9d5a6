import { expect, it } from 'vitest';
import { createEmitter } from '../../../src/operations/events.js';

const status = (jobId: string) => ({ namespace: 'default', jobId, status: 'running', index: 1 });

it('calls the listeners of an event in their order, with the fact, and those of no other', () => {
  const emitter = createEmitter();
  const calls: string[] = [];
  emitter.on('job.status', ({ jobId }) => calls.push(`first ${jobId}`)).on('job.status', () => calls.push('second'));
  emitter.on('loop.failed', () => calls.push('another event'));
  expect([emitter.emit('job.status', status('a')), emitter.listenerCount('job.status')]).toEqual([true, 2]);
  expect(calls).toEqual(['first a', 'second']);
  expect(createEmitter().emit('job.status', status('a'))).toBe(false);
});

it('calls a listener of one event once, even if it emits that event itself', () => {
  const emitter = createEmitter();
  const calls: string[] = [];
  emitter.once('job.status', ({ jobId }) => {
    calls.push(jobId);
    emitter.emit('job.status', status('b'));
  });
  emitter.emit('job.status', status('a'));
  expect([calls, emitter.listenerCount('job.status')]).toEqual([['a'], 0]);
});

it('removes one listener or all of an event; an event under way still reaches those that it began with', () => {
  const emitter = createEmitter();
  const calls: string[] = [];
  const second = (): void => void calls.push('second');
  emitter.on('job.status', () => {
    calls.push('first');
    emitter.off('job.status', second).on('job.status', () => calls.push('added'));
  });
  emitter.on('job.status', second);
  emitter.emit('job.status', status('a'));
  expect(calls).toEqual(['first', 'second']);
  emitter.off('job.status');
  expect([emitter.emit('job.status', status('a')), calls.length]).toEqual([false, 2]);
});
