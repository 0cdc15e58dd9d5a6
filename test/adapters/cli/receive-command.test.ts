import { expect, it } from 'vitest';
import { typed } from './typed-commands.js';

it('receive ends at a signal that comes as soon as it says that it listens', async () => {
  const onError = (): void => void process.emit('SIGTERM', 'SIGTERM');
  const { code, error } = await typed('', { onError }, 'receive', '--listen', '127.0.0.1:0');
  expect([code, error]).toEqual([0, expect.stringMatching(/^receiving on http:\/\/127\.0\.0\.1:\d+\n$/)]);
});
